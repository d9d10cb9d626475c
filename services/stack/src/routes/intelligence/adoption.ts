// Adoption of a provider over time, and what its domains use in addition.
import { coAdoption, curveOf, DAY_MS, dayOf, MIN_SUPPORT, type Selection } from '@strata/analytics';
import { route } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
import { rowsOf } from '../../index/listed-changes.ts';
import { dateOf, tags } from '../../index/live-index.ts';
import { Limit, providerOf, Text } from '../parameters.ts';
import { populationCache, queryParameter, selectionOf } from '../query-parameter.ts';

/** A new day has no event: maximum age of an answer. */
const WINDOW_MS = 60_000;
/** Domains gained, and lost, that one request reads at most to find those of a query. */
const MAX_READ = 10_000;
/** Days of the curve. */
const DAYS = 365;
const count = z.int().min(0);
const share = z.number().min(0).max(1);

export const getAdoption = route(
  {
    method: 'GET',
    path: '/stack/v1/intelligence/adoption/{tool}',
    tag: 'Intelligence',
    summary: 'Adoption curve and co-adoption of a tool',
    params: z.object({ tool: Text.describe('Id, name or alias of a provider, case-insensitive.') }),
    query: z.object({ limit: Limit.describe('Entries of `co_adoption`.').default(50), ...queryParameter }),
    output: {
      kind: 'signed',
      schema: z.object({
        tool: z.string(),
        provider_id: z.string(),
        domains: count,
        share,
        method: z.string(),
        curve: z
          .array(
            z.object({
              date: z.iso.date(),
              domains: count,
              added: count,
              removed: count,
              measured: z
                .boolean()
                .describe('Whether there were scans on this day; if not, the numbers are those of the previous day.'),
            }),
          )
          .describe(
            `The last 365 days; with \`query\` not before the last ${MAX_READ} domains that the tool gained or lost.`,
          ),
        co_adoption: z.array(
          z.object({
            provider: z.string(),
            provider_id: z.string(),
            domains: count,
            jaccard: share,
            lift: z.number().min(0),
          }),
        ),
      }),
    },
    errors: ['unknown_provider', 'unavailable'],
    cache: (app: StackApp, { tool, limit, query }, context) => {
      const { id } = providerOf(app, tool, context);
      const today = dayOf(app.clock().getTime());
      const policy = { key: `adoption ${id} ${today} ${limit}`, tags: [tags.provider(id), tags.domains[0]] };
      return populationCache({ query }, { ...policy, maxAgeMs: WINDOW_MS });
    },
  },
  async (app, { tool, limit, query }, context) => {
    const { id, name } = providerOf(app, tool, context);
    const { analytics, names } = app;
    const to = dayOf(app.clock().getTime());
    const within = selectionOf(app, { query });
    const near = await analytics.neighbours(id, { within, ownerOf: names.ownerOf });
    const { domains, population } = near;
    const { scannedDays, firstScannedDay = to, ...history } = await analytics.adoption(id, { from: to - DAYS + 1, to });
    const known = history.curve.filter(({ day }) => day >= firstScannedDay);
    const from = known[0]?.day ?? to;
    const curve = within ? await curveWithin(app, id, { from, to, domains, within }) : known;
    const scanned = new Set(scannedDays);
    return {
      tool: name,
      provider_id: id,
      domains,
      share: population === 0 ? 0 : domains / population,
      method: `Curve for the current set of domains: before its first scan a domain counts with the result of that scan, so that adding domains does not count as adoption; a change counts on the day of its confirmation. Jaccard = common / either; lift = common x all / (own x other); at least ${MIN_SUPPORT} common domains; brands of the same owner are excluded.`,
      curve: curve.map(({ day, ...point }) => ({ date: dateOf(day), ...point, measured: scanned.has(day) })),
      co_adoption: coAdoption(near, limit).map(({ provider, ...rest }) => ({
        provider: names.nameOf(provider),
        provider_id: provider,
        ...rest,
      })),
    };
  },
);

/** The curve of some domains, from the stored changes: the index has only those of all domains. */
async function curveWithin(
  app: StackApp,
  provider: string,
  { from, to, domains, within }: { from: number; to: number; domains: number; within: Selection },
) {
  const moved = { in: new Map<number, number>(), out: new Map<number, number>() };
  let first = from;
  for (const direction of ['in', 'out'] as const) {
    const filter = { provider, direction, since: new Date(from * DAY_MS) };
    const changes = await app.store.lists.customers(filter, { limit: MAX_READ, offset: 0 });
    const days = changes.map(({ confirmedAt }) => dayOf(confirmedAt.getTime()));
    if (changes.length === MAX_READ) first = Math.max(first, (days.at(-1) ?? to) + 1);
    const matching = await rowsOf(app, changes, within.query);
    for (const [at, { domainId }] of changes.entries()) {
      const day = days[at] as number;
      if (matching.has(domainId)) moved[direction].set(day, (moved[direction].get(day) ?? 0) + 1);
    }
  }
  const movementOn = (day: number) => ({ gained: moved.in.get(day) ?? 0, lost: moved.out.get(day) ?? 0 });
  return curveOf(domains, { from: Math.min(first, to), to }, movementOn);
}
