// Market share of providers by category and by role, with concentration.
import { dayOf } from '@strata/analytics';
import { CATEGORIES, type Category, ROLE_FACTS, ROLE_LIST } from '@strata/detect';
import { route } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
import { tags } from '../../index/live-index.ts';
import { MarketSchema, marketReport, RoleMarketSchema, roleMarketReport } from '../../reports/market-report.ts';
import { CategoryParameter, checkRole, Limit, RoleParameter, Word } from '../parameters.ts';
import { populationCache, queryParameter, selectionOf } from '../query-parameter.ts';

/** Changes within 30 days move without an event: maximum age of an answer. */
const WINDOW_MS = 60_000;

export const getMarketShare = route(
  {
    method: 'GET',
    path: '/stack/v1/intelligence/market-share',
    tag: 'Intelligence',
    summary: 'Provider market share by category',
    description:
      'Shares of the domains with a known provider, self-hosted ones included; a domain with k providers counts 1/k for each. Only services of high and medium confidence count. Parked names are excluded by default. With `query`, shares of the domains that match, and `change_30d` is null.',
    query: z.object({
      category: CategoryParameter.optional(),
      role: RoleParameter.describe('Only the market of this role; `categories` is then empty.').optional(),
      include_parked: Word(['true', 'false']).default('false'),
      limit: Limit.describe(
        'Providers of a market, by default 1,000 of one category or role and 25 of each of all.',
      ).optional(),
      ...queryParameter,
    }),
    output: {
      kind: 'signed',
      schema: z.object({
        include_parked: z.boolean(),
        method: z.string(),
        categories: z.array(MarketSchema),
        roles: z.array(RoleMarketSchema).describe('The providers that compete: of one role each.'),
      }),
    },
    errors: ['unavailable'],
    cache: (_app: StackApp, { category, role, include_parked, limit, query }) =>
      populationCache(
        { query },
        {
          key: `market ${category ?? ''} ${role ?? ''} ${include_parked} ${limit ?? ''}`,
          tags: [
            ...tags.changes,
            ...(category === undefined ? tags.domains : [tags.category(category), tags.domains[0]]),
          ],
          maxAgeMs: WINDOW_MS,
        },
      ),
  },
  async (app, { category, role, include_parked, limit, query }) => {
    checkRole({ category, role });
    const { names, clock } = app;
    const includeParked = include_parked === 'true';
    const max = limit ?? (category === undefined && role === undefined ? 25 : 1_000);
    const isAsked = (of: Category) => (category ?? of) === of;
    const found = await app.analytics.markets({
      categories: role === undefined ? CATEGORIES.filter(isAsked) : [],
      roles: role === undefined ? ROLE_LIST.filter((each) => isAsked(ROLE_FACTS[each].category)) : [role],
      ...{ includeParked, ownerOf: names.ownerOf, changes: { today: dayOf(clock().getTime()), first: max } },
      within: selectionOf(app, { query }),
    });
    return {
      include_parked: includeParked,
      method:
        'HHI = sum of squared percent shares, 0-10,000, by brand and by owner; each self-hosted domain is a separate firm; unknown and unmeasured ones are excluded. Bands: 1,800 from DOJ/FTC Merger Guidelines 2023, guideline 1; 1,000 from those of 1992',
      categories: found.categories.map((each) => marketReport(each, { names, max })),
      roles: found.roles.map((each) => roleMarketReport(each, { names, max })),
    };
  },
);
