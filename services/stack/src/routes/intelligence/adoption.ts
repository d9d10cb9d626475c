// Adoption of a provider over time, and what its domains use in addition.
import { adoptionCurve, coAdoption, dayOf, MIN_SUPPORT } from '@strata/analytics';
import { route } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
import { dateOf, MAX_STALE_MS, tags } from '../../index/live-index.ts';
import { Limit, providerOf, Text } from '../parameters.ts';

/** A new day has no event: maximum age of an answer. */
const WINDOW_MS = 60_000;
const count = z.int().min(0);
const share = z.number().min(0).max(1);

export const getAdoption = route(
  {
    method: 'GET',
    path: '/stack/v1/intelligence/adoption/{tool}',
    tag: 'Intelligence',
    summary: 'Adoption curve and co-adoption of a tool',
    params: z.object({ tool: Text.describe('Id, name or alias of a provider, case-insensitive.') }),
    query: z.object({ limit: Limit.describe('Entries of `co_adoption`.').default(50) }),
    output: {
      kind: 'signed',
      schema: z.object({
        tool: z.string(),
        provider_id: z.string(),
        domains: count,
        share,
        method: z.string(),
        curve: z.array(
          z.object({
            date: z.iso.date(),
            domains: count,
            added: count,
            removed: count,
            measured: z
              .boolean()
              .describe('Whether there were scans on this day; if not, the numbers are those of the previous day.'),
          }),
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
    errors: ['unknown_provider'],
    access: 'key',
    cache: (app: StackApp, { tool, limit }, context) => {
      const { id } = providerOf(app, tool, context);
      const today = dayOf(app.clock().getTime());
      return {
        key: `adoption ${id} ${today} ${limit}`,
        tags: [tags.provider(id), tags.domains[0]],
        maxStaleMs: MAX_STALE_MS,
        maxAgeMs: WINDOW_MS,
      };
    },
  },
  (app, { tool, limit }, context) => {
    const { id, name } = providerOf(app, tool, context);
    const { index, names } = app;
    const to = dayOf(app.clock().getTime());
    const scanned = new Set(index.history.scans.days().map(({ day }) => day));
    const [first = to] = scanned;
    const curve = adoptionCurve(index, { provider: id }, { from: Math.max(first, to - 364), to });
    const domains = curve.at(-1)?.domains ?? 0;
    return {
      tool: name,
      provider_id: id,
      domains,
      share: index.size === 0 ? 0 : domains / index.size,
      method: `Curve for the current set of domains: before its first scan a domain counts with the result of that scan, so that adding domains does not count as adoption; a change counts on the day of its confirmation. Jaccard = common / either; lift = common x all / (own x other); at least ${MIN_SUPPORT} common domains; brands of the same owner are excluded.`,
      curve: curve.map(({ day, ...point }) => ({ date: dateOf(day), ...point, measured: scanned.has(day) })),
      co_adoption: coAdoption(index, id, { ownerOf: names.ownerOf, limit }).map(({ provider, ...rest }) => ({
        provider: names.nameOf(provider),
        provider_id: provider,
        ...rest,
      })),
    };
  },
);
