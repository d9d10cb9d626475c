// Statistics over all domains, computed from the index and cached until it changes.
import { dayOf } from '@strata/analytics';
import { CATEGORIES } from '@strata/detect';
import { route } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
import { MAX_STALE_MS, tags } from '../../index/live-index.ts';
import { pageFields, pageOf, pageParameters } from '../paging.ts';
import { populationCache, queryParameter, selectionOf } from '../query-parameter.ts';

/** Windows move without an event: maximum age of an answer. */
const WINDOW_MS = 60_000;
const count = z.int().min(0);

export const getStats = route(
  {
    method: 'GET',
    path: '/stack/v1/stats',
    tag: 'Statistics',
    summary: 'Aggregate statistics, computed at read time',
    description:
      'During scans it is recomputed at most every 0.6 s, with `query` every 10 s; `computed_at` is the time.',
    query: z.object(queryParameter),
    output: {
      kind: 'signed',
      schema: z.object({
        domains: count.describe(
          'Domains that a scan has measured: without those whose name servers have never answered.',
        ),
        domains_by_state: z.record(z.string(), count),
        services: count.describe('Services of all domains with any confidence.'),
        providers: count.describe('Providers with at least one domain.'),
        migrations: z
          .object({ last_24h: count, last_7d: count, last_30d: count })
          .describe('Migrations by time of confirmation.'),
        by_category: z.array(z.object({ category: z.enum(CATEGORIES), domains: count, providers: count })),
        scans: count.nullable().describe('Null with `query`.'),
        computed_at: z.iso.datetime(),
      }),
    },
    errors: ['unavailable'],
    cache: (_app: StackApp, input) =>
      populationCache(input, {
        key: 'stats',
        tags: [...tags.domains, ...tags.changes, ...tags.scans],
        maxAgeMs: WINDOW_MS,
      }),
  },
  async (app, input) => {
    const now = app.clock().getTime();
    const found = await app.analytics.statistics({ within: selectionOf(app, input), now });
    const { last24h: last_24h, last7d: last_7d, last30d: last_30d } = found.migrations;
    return {
      domains: found.domains,
      domains_by_state: found.byState,
      services: found.services,
      providers: found.providers,
      migrations: { last_24h, last_7d, last_30d },
      by_category: [...found.byCategory],
      scans: input.query === undefined ? found.scans : null,
      computed_at: new Date(now).toISOString(),
    };
  },
);

const LEADERS = { name: 'leaders', key: z.tuple([z.int(), z.string().max(100)]).readonly() };

export const getLeaders = route(
  {
    method: 'GET',
    path: '/stack/v1/stats/providers',
    tag: 'Statistics',
    summary: 'Provider leaderboard, top 50 by domain count',
    query: z.object({ ...pageParameters(50), ...queryParameter }),
    output: {
      kind: 'signed',
      schema: z.object({
        total: count.describe('Providers with at least one domain.'),
        ...pageFields,
        providers: z.array(
          z.object({
            rank: z.int(),
            provider: z.string(),
            provider_id: z.string(),
            categories: z.array(z.enum(CATEGORIES)),
            domains: count,
            share: z.number().min(0).max(1).describe('Share of all scanned domains, or of those of the query.'),
            change_30d: z
              .int()
              .nullable()
              .describe(
                'Domains gained minus domains lost, confirmed within 30 days; excludes first scans and rulebook changes. Null with `query`.',
              ),
          }),
        ),
      }),
    },
    cache: (_app: StackApp, input) => ({
      key: `leaders ${JSON.stringify(input)}`,
      tags: [...tags.domains, ...tags.changes],
      maxStaleMs: MAX_STALE_MS,
      maxAgeMs: WINDOW_MS,
    }),
  },
  async (app, input) => {
    const { names, clock } = app;
    const page = pageOf(input, LEADERS, input.query);
    const today = dayOf(clock().getTime());
    const { limit, after } = page.query;
    const within = selectionOf(app, input);
    const found = await app.analytics.leaders({ today, limit, within, ...(after && { after }) });
    const { rows, fields } = page.cut(found.leaders, ({ domains, provider }) => [domains, provider] as const);
    return {
      total: found.total,
      ...fields,
      providers: rows.map(({ provider, change30d, categories, ...leader }) => ({
        ...leader,
        provider: names.nameOf(provider),
        provider_id: provider,
        categories: [...categories],
        change_30d: change30d,
      })),
    };
  },
);
