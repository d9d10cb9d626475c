// Who left whom: the newest migrations, of all or of one provider, and the flows that they add up to.
import { type Flow, TREND_DAYS } from '@strata/analytics';
import { CATEGORIES } from '@strata/detect';
import { type RequestContext, refuse, route } from '@strata/http';
import type { ChangeFilter } from '@strata/store';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
import { listedChanges } from '../../index/listed-changes.ts';
import { MAX_STALE_MS, tags } from '../../index/live-index.ts';
import { ChangeSchema, changeReport } from '../../reports/domain-report.ts';
import { CategoryParameter, Limit, Offset, providerOf, Text, Word } from '../parameters.ts';
import { flowsWithin, windowParameters } from './window.ts';

/** Windows move on without any event; within this time an answer is not computed anew for that alone. */
const WINDOW_MS = 60_000;
/** Flows that are told of all providers, and of one. */
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

/** What migrations are chosen by, in the list and in the export. */
export const migrationParameters = {
  provider: Text.describe('Id, name or alias of a provider.').optional(),
  direction: Word(['in', 'out']).describe('To the provider, or away from it; both without a provider.').optional(),
  other: Text.describe(
    'The provider at the other end, by id, name or alias; only together with `provider`.',
  ).optional(),
  category: CategoryParameter.optional(),
  ...windowParameters,
};

/** The words of a question, with ids for the names of providers; refuses names that nobody has, and an end without the other. */
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
      'A migration is a confirmed change of holder in an exclusive role (mailbox, gateway, dns, edge, origin). Newest first: of any age, by when it was first seen; within a window (`days`, `hours`), by when it was confirmed. ' +
      '`total` and `flows` count those confirmed within the window, or within 30 days without one.',
    query: z.object({ limit: Limit.default(50), offset: Offset.default(0), ...migrationParameters }),
    output: {
      kind: 'signed',
      schema: z.object({
        total: count.describe('Migrations that fit, confirmed within the window, or within 30 days without one.'),
        limit: z.int(),
        offset: z.int(),
        has_more: z.boolean().describe('Whether the list goes on after this page.'),
        window_days: z.number().describe('Of `total` and `flows`; a part of a day where `hours` are asked for.'),
        migrations: z.array(MigrationSchema),
        flows: z
          .array(FlowSchema)
          .describe(`Who went where, most domains first; at most ${MAX_FLOWS}, ${MAX_FLOWS_OF_ONE} of one provider.`),
        flows_total: count.describe('Flows that there are.'),
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
    // One more than is told, to know whether there is more.
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
