// Migrations between providers: the newest ones, and their sums as flows.
import { type Flow, TREND_DAYS } from '@strata/analytics';
import { CATEGORIES } from '@strata/detect';
import { type RequestContext, refuse, route } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
import { listedChanges } from '../../index/listed-changes.ts';
import { MAX_STALE_MS, tags } from '../../index/live-index.ts';
import { ChangeSchema, changeReport } from '../../reports/domain-report.ts';
import type { ChangeFilter } from '../../store/index.ts';
import { CategoryParameter, Limit, Offset, providerOf, Text, Word } from '../parameters.ts';
import { flowsWithin, windowParameters } from './window.ts';

/** Windows move without an event: maximum age of an answer. */
const WINDOW_MS = 60_000;
/** Maximum flows in an answer, for all providers and for one. */
const MAX_FLOWS = 100;
const MAX_FLOWS_OF_ONE = 1_000;
const count = z.int().min(0);

export const FlowSchema = z
  .object({
    category: z.enum(CATEGORIES),
    from: z.string(),
    from_id: z.string(),
    to: z.string(),
    to_id: z.string(),
    domains: count,
  })
  .meta({ id: 'Flow' });

export const MigrationSchema = ChangeSchema.extend({ domain: z.string() }).meta({ id: 'Migration' });

/** Filters of migrations, in the list and in the export. */
export const migrationParameters = {
  provider: Text.describe('Id, name or alias of a provider.').optional(),
  direction: Word(['in', 'out'])
    .describe('To the provider, or away from it; has no effect without a provider.')
    .optional(),
  other: Text.describe(
    'The provider at the other end, by id, name or alias; only together with `provider`.',
  ).optional(),
  category: CategoryParameter.optional(),
  ...windowParameters,
};

/** The filter of a request, with names of providers resolved; refuses unknown names, and `other` without `provider`. */
export function migrationFilter(
  app: StackApp,
  input: z.output<z.ZodObject<typeof migrationParameters>>,
  context: RequestContext<'unknown_provider'>,
): Omit<ChangeFilter, 'type' | 'since'> {
  const { provider, direction, other, category } = input;
  if (provider === undefined && other !== undefined) {
    refuse('invalid_parameter', 'Cannot use: other.', { errors: [{ field: 'other', message: 'needs provider' }] });
  }
  const idOf = (name: string) => providerOf(app, name, context).id;
  return {
    ...(category === undefined ? {} : { category }),
    ...(provider === undefined ? {} : { provider: idOf(provider), ...(direction ? { direction } : {}) }),
    ...(provider === undefined || other === undefined ? {} : { other: idOf(other) }),
  };
}

export const getMigrations = route(
  {
    method: 'GET',
    path: '/stack/v1/stats/migrations',
    tag: 'Statistics',
    summary: 'Recent provider migrations',
    description:
      'A migration is a confirmed change of holder in an exclusive role (mailbox, gateway, dns, edge, origin). Newest first: without a window by first observation, within a window (`days`, `hours`) by confirmation. ' +
      '`total` and `flows` count those confirmed within the window, or within 30 days without one.',
    query: z.object({ limit: Limit.default(50), offset: Offset.default(0), ...migrationParameters }),
    output: {
      kind: 'signed',
      schema: z.object({
        total: count.describe('Matching migrations, confirmed within the window, or within 30 days without one.'),
        limit: z.int(),
        offset: z.int(),
        has_more: z.boolean().describe('Whether there are more after this page.'),
        window_days: z.number().describe('Window of `total` and `flows`; a fraction if `hours` is used.'),
        migrations: z.array(MigrationSchema),
        flows: z
          .array(FlowSchema)
          .describe(
            `Sums by previous and new provider, most domains first; at most ${MAX_FLOWS}, or ${MAX_FLOWS_OF_ONE} for one provider.`,
          ),
        flows_total: count.describe('Total number of flows.'),
      }),
    },
    errors: ['unknown_provider'],
    access: 'key',
    cache: (app: StackApp, input, context) => ({
      key: `migrations ${JSON.stringify([migrationFilter(app, input, context), input.limit, input.offset, input.days, input.hours])}`,
      tags: [...tags.changes],
      maxStaleMs: MAX_STALE_MS,
      maxAgeMs: WINDOW_MS,
    }),
  },
  async (app, input, context) => {
    const { limit, offset, days, hours } = input;
    const filter = migrationFilter(app, input, context);
    const max = filter.provider === undefined ? MAX_FLOWS : MAX_FLOWS_OF_ONE;
    const { total, pairs, flows, since } = flowsWithin(app, input, { ...filter, limit: max });
    // One additional row shows whether there are more.
    const page = { limit: limit + 1, offset };
    const newest = await listedChanges(app, { type: 'migrated', ...filter, ...(since && { since }) }, page);
    return {
      total,
      limit,
      offset,
      has_more: newest.length > limit,
      window_days: hours === undefined ? (days ?? TREND_DAYS) : hours / 24,
      migrations: newest
        .slice(0, limit)
        .map((change) => ({ ...changeReport(change, app.names), domain: change.domain })),
      flows: flows.map((flow) => flowReport(flow, app.names)),
      flows_total: pairs,
    };
  },
);

export function flowReport(
  { category, from, to, domains }: Flow,
  names: StackApp['names'],
): z.input<typeof FlowSchema> {
  return { category, from: names.nameOf(from), from_id: from, to: names.nameOf(to), to_id: to, domains };
}
