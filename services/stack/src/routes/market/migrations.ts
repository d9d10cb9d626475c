// Migrations between providers: the newest ones, and their sums as flows.
import { DAY_MS, dayOf, type Flow, TREND_DAYS } from '@strata/analytics';
import { CATEGORIES } from '@strata/detect';
import { route } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
import { changeKey, listedChangesOf } from '../../index/listed-changes.ts';
import { MAX_STALE_MS, tags } from '../../index/live-index.ts';
import { ChangeSchema, changeReport } from '../../reports/domain-report.ts';
import type { ChangeFilter, ListedChange } from '../../store/index.ts';
import { changeKeyShape, offsetParameters, pageFields, pageOf } from '../paging.ts';
import { CategoryParameter, providerIn, refuseField, Text, Word } from '../parameters.ts';
import { queryParameter, selectionOf } from '../query-parameter.ts';
import { datesOf, daysOf, endsOf, MAX_DAYS, WindowKey, windowOf, windowParameters } from './window.ts';

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
  ...queryParameter,
  ...windowParameters(MAX_DAYS),
};

/** The filter of a request, with names of providers resolved; refuses unknown names, and `other` without `provider`. */
export function migrationFilter(
  app: StackApp,
  input: z.output<z.ZodObject<typeof migrationParameters>>,
): Omit<ChangeFilter, 'type' | 'since' | 'until'> {
  const { provider, direction, other, category } = input;
  if (provider === undefined && other !== undefined) {
    refuseField('other', 'needs provider');
  }
  return {
    ...(category === undefined ? {} : { category }),
    ...(provider === undefined
      ? {}
      : { provider: providerIn(app, 'provider', provider), ...(direction ? { direction } : {}) }),
    ...(provider === undefined || other === undefined ? {} : { other: providerIn(app, 'other', other) }),
  };
}

/** The change, and the window of the list. */
const LIST = { name: 'migrations', key: z.tuple([...changeKeyShape, WindowKey.nullable()]) };

export const getMigrations = route(
  {
    method: 'GET',
    path: '/stack/v1/stats/migrations',
    tag: 'Statistics',
    summary: 'Recent provider migrations',
    description:
      'A migration is a confirmed change of holder in an exclusive role (mailbox, gateway, forwarding, dns, edge, origin). Newest first: without a window by first observation, within a window (`days`, `hours`, `since`) by confirmation. ' +
      '`total` and `flows` count those confirmed within the window, or within 30 days without one. ' +
      'With `query` a page may have fewer rows than `limit`: `next_cursor` continues the search.',
    query: z.object({ ...offsetParameters(50), ...migrationParameters }),
    output: {
      kind: 'signed',
      schema: z.object({
        total: count.describe('Matching migrations, confirmed within the window, or within 30 days without one.'),
        ...pageFields,
        has_more: z.boolean().describe('Whether there are more after this page.'),
        window_days: z.number().describe('Window of `total` and `flows`; a fraction if it is not of complete days.'),
        migrations: z.array(MigrationSchema),
        flows: z
          .array(FlowSchema)
          .describe(
            `Sums by previous and new provider, most domains first; at most ${MAX_FLOWS}, or ${MAX_FLOWS_OF_ONE} for one provider.`,
          ),
        flows_total: count.describe('Total number of flows.'),
      }),
    },
    cache: (app: StackApp, { limit, offset, cursor, days, hours, since, until, ...input }) => ({
      key: `migrations ${JSON.stringify([migrationFilter(app, input), input.query, limit, offset, cursor, days, hours, since, until])}`,
      tags: [...tags.changes, ...(input.query === undefined ? [] : tags.domains)],
      maxStaleMs: MAX_STALE_MS,
      maxAgeMs: WINDOW_MS,
    }),
  },
  async (app, input, _context) => {
    const now = app.clock().getTime();
    const filter = migrationFilter(app, input);
    const { days, hours, since, until, query } = input;
    if (query !== undefined && input.offset > 0) refuseField('offset', 'cannot be combined with query: use cursor');
    const within = selectionOf(app, input)?.query;
    const asked = [filter, days, hours, since, until];
    const page = pageOf(input, LIST, query === undefined ? asked : [...asked, query]);
    // Later pages are of the window of the first one.
    const window = page.query.after ? page.query.after[2] : windowOf(input, { now, maxDays: MAX_DAYS });
    const counted = window ?? { since: (dayOf(now) - TREND_DAYS + 1) * DAY_MS };
    const max = filter.provider === undefined ? MAX_FLOWS : MAX_FLOWS_OF_ONE;
    const ends = endsOf(counted, now);
    const { total, pairs, flows } = await app.analytics.flows({ ...filter, ...ends, within, limit: max });
    const chosen = { type: 'migrated', ...filter, ...(window && datesOf(window)) } as const;
    const { changes, next } = await listedChangesOf(app, chosen, { ...page.query, within });
    type Key = z.output<typeof LIST.key>;
    const keyOf = (change: ListedChange): Key => [...changeKey(change, window ? 'confirmedAt' : 'at'), window];
    const { rows, fields } = page.cut(changes, keyOf);
    if (next) fields.next_cursor = page.cursor(keyOf(next), rows.length);
    return {
      total,
      ...fields,
      has_more: fields.next_cursor !== null,
      window_days: daysOf(counted, now),
      migrations: rows.map((change) => ({ ...changeReport(change, app.names), domain: change.domain })),
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
