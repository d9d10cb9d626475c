// One provider: its domains, markets and movement.
import { DAY_MS, dayOf, type FlowsOptions, type Market, TREND_DAYS } from '@strata/analytics';
import { CATEGORIES, KINDS, ROLE_LIST } from '@strata/detect';
import { route } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
import { OpenAdvisoriesSchema, openAdvisories } from '../../enrichment/exposure/advisory-report.ts';
import { MAX_STALE_MS, tags } from '../../index/live-index.ts';
import { FoundDomainSchema, foundDomain } from '../domains/search.ts';
import { DOMAINS, offsetParameters, pageFields, pageOf } from '../paging.ts';
import { ProviderPath, providerOf } from '../parameters.ts';
import { CatalogEntrySchema, catalogEntry } from './catalog-entry.ts';
import { FlowSchema, flowReport } from './migrations.ts';

const count = z.int().min(0);
const position = {
  category: z.enum(CATEGORIES),
  domains: count,
  share: z.number().min(0).max(1),
  rank: z.int(),
  providers: count,
  hhi: z.number().nullable(),
  band: z.string(),
};

export const getProvider = route(
  {
    method: 'GET',
    path: '/stack/v1/providers/{provider}',
    tag: 'Providers',
    summary: 'Provider detail, its domains and market context',
    params: ProviderPath,
    query: z.object(offsetParameters(50)),
    output: {
      kind: 'signed',
      schema: z.object({
        provider: z.string(),
        provider_id: z.string(),
        owner: z.string(),
        aliases: z.array(z.string()),
        website: z.string().nullable(),
        kinds: z.array(z.enum(KINDS)).describe('Kinds of the provider, most characteristic first.'),
        categories: z.array(z.enum(CATEGORIES)).describe('Categories in which domains use it.'),
        domains: z.object({
          total: count,
          ...pageFields,
          results: z.array(FoundDomainSchema).describe('In alphabetical order.'),
        }),
        market: z.object({
          rank: z.int().nullable().describe('Rank among all providers by number of domains; null without domains.'),
          share: z.number().min(0).max(1).describe('Share of all scanned domains.'),
          change_30d: z.int(),
          by_category: z.array(z.object(position)),
          by_role: z
            .array(z.object({ role: z.enum(ROLE_LIST), ...position }))
            .describe('Among the providers of the same role.'),
        }),
        gained_30d: count.describe('Domains that started to use it, confirmed within 30 days.'),
        lost_30d: count.describe('Domains that stopped using it completely, confirmed within 30 days.'),
        moves_30d: z
          .object({ in: count, out: count })
          .describe(
            'Migrations of single services to it and away from it: a domain that moves two services counts twice.',
          ),
        flows_30d: z.array(FlowSchema).describe('The flows of these migrations, most domains first; at most 50.'),
        catalog: CatalogEntrySchema.nullable().describe('Its entry in the catalog; null if it was removed from it.'),
        advisories: OpenAdvisoriesSchema.describe(
          'Advisories of its product in the observed versions. Null if it is a service and not a product, or no advisory source has been read.',
        ),
      }),
    },
    errors: ['unknown_provider'],
    cache: (app: StackApp, input, context) => {
      const { id } = providerOf(app, input.provider, context);
      return {
        key: `provider ${id} ${input.limit} ${input.offset} ${input.cursor ?? ''}`,
        tags: [tags.provider(id), tags.domains[0], tags.advisoriesOf(id), ...tags.enrichment],
        maxStaleMs: MAX_STALE_MS,
        maxAgeMs: 60_000,
      };
    },
  },
  async (app, input, context) => {
    const { id, name, owner, website } = providerOf(app, input.provider, context);
    const { analytics, names, rulebook } = app;
    const page = pageOf(input, DOMAINS, ['provider', id]);
    const { after, ...query } = page.query;
    const key = after === undefined ? undefined : ([null, after] as const);
    const users = await analytics.search({ filter: { provider: id }, ...query, after: key });
    const { rows, fields } = page.cut(users.domains, (each) => each.name);
    const today = dayOf(app.clock().getTime());
    const [leader] = (await analytics.leaders({ today, limit: 1, providers: [id] })).leaders;
    const [gained, lost] = await movementOf(app, id, { from: today - TREND_DAYS + 1, to: today });
    const window = { since: (today - TREND_DAYS + 1) * DAY_MS, until: (today + 1) * DAY_MS - 1 };
    const moved = (filter: Omit<FlowsOptions, 'provider' | 'since' | 'until'>) =>
      analytics.flows({ provider: id, ...window, ...filter });
    const { flows } = await moved({ limit: 50 });
    const directions = [await moved({ direction: 'in', limit: 1 }), await moved({ direction: 'out', limit: 1 })];
    const [movedIn = 0, movedOut = 0] = directions.map(({ total }) => total);
    const every = { categories: CATEGORIES, roles: ROLE_LIST, ownerOf: names.ownerOf };
    const markets = await analytics.markets(every);
    return {
      provider: name,
      provider_id: id,
      owner,
      aliases: [...(rulebook.providers.get(id)?.aliases ?? [])],
      website,
      kinds: [...names.kindsOf(id)],
      categories: [...(leader?.categories ?? [])],
      domains: {
        total: users.total,
        ...fields,
        results: rows.map((row) => foundDomain(row, names)),
      },
      market: {
        rank: leader?.rank ?? null,
        share: leader?.share ?? 0,
        change_30d: gained - lost,
        by_category: markets.categories.flatMap((each) => positionIn(each, id)),
        by_role: markets.roles.flatMap((each) => positionIn(each, id).map((own) => ({ role: each.role, ...own }))),
      },
      gained_30d: gained,
      lost_30d: lost,
      moves_30d: { in: movedIn, out: movedOut },
      flows_30d: flows.map((flow) => flowReport(flow, names)),
      catalog: catalogEntry(rulebook, id),
      advisories: await advisoriesOfProduct(app, id),
    };
  },
);

/** Domains that began to use a provider in any category, and that stopped using it in all; days since the epoch. */
export async function movementOf(
  { analytics }: Pick<StackApp, 'analytics'>,
  provider: string,
  days: { readonly from: number; readonly to: number },
): Promise<readonly [gained: number, lost: number]> {
  const { curve } = await analytics.adoption(provider, days);
  return curve.reduce<[number, number]>(
    ([gained, lost], { added, removed }) => [gained + added, lost + removed],
    [0, 0],
  );
}

function positionIn({ category, providers, hhi, band }: Market, id: string) {
  const at = providers.findIndex(({ provider }) => provider === id);
  const own = providers[at];
  return own
    ? [{ category, domains: own.domains, share: own.share, rank: at + 1, providers: providers.length, hhi, band }]
    : [];
}

async function advisoriesOfProduct(app: StackApp, id: string) {
  const isProduct = app.exposures.advisories.products.includes(id);
  return isProduct && app.exposures.isKnown ? openAdvisories(await app.exposures.ofProduct(id), app) : null;
}
