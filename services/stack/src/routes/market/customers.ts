// Domains that a provider gained or lost, when, and their previous or new providers.
import { DAY_MS, dayOf, TREND_DAYS } from '@strata/analytics';
import { CATEGORIES } from '@strata/detect';
import { route } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
import { type Customer, changeKey, listedCustomers } from '../../index/listed-changes.ts';
import { dateOf, MAX_STALE_MS, tags } from '../../index/live-index.ts';
import { changeReport } from '../../reports/domain-report.ts';
import type { CustomerFilter } from '../../store/index.ts';
import { changeKeyShape, offsetParameters, pageFields, pageOf } from '../paging.ts';
import { ProviderPath, providerOf, Word } from '../parameters.ts';
import { MigrationSchema } from './migrations.ts';
import { movementOf } from './providers.ts';
import { datesOf, daysOf, type TimeWindow, WindowKey, windowOf, windowParameters } from './window.ts';

const WINDOW_MS = 60_000;
const MAX_ROWS = 1_000;
const MAX_DAYS = 365;
const count = z.int().min(0);

const MEANING =
  'Domains that started to use a provider (`in`) or stopped using it completely (`out`), as counted by `gained_30d` and `lost_30d`: a domain that moves one service and keeps another is in neither list. Last confirmed first.';

const parameters = {
  direction: Word(['in', 'out']).describe('`in`: gained; `out`: lost.').default('out'),
  ...windowParameters(MAX_DAYS),
};
type WindowInput = Parameters<typeof windowOf>[0];

/** By default the last 30 days. */
function windowIn({ clock }: StackApp, input: WindowInput): TimeWindow {
  const options = { now: clock().getTime(), maxDays: MAX_DAYS };
  return windowOf(input, options) ?? (windowOf({ ...input, days: TREND_DAYS }, options) as TimeWindow);
}

const LIST = { name: 'customers', key: z.tuple([...changeKeyShape, WindowKey]) };

const CustomerSchema = MigrationSchema.extend({
  moves: z
    .array(z.object({ category: z.enum(CATEGORIES), provider: z.string(), provider_id: z.string() }))
    .describe('The new or previous provider of each service; empty if unknown.'),
}).meta({ id: 'Customer', description: 'The change that gained or lost the domain.' });

export const getCustomers = route(
  {
    method: 'GET',
    path: '/stack/v1/providers/{provider}/customers',
    tag: 'Providers',
    summary: 'Domains that a provider gained or lost, and where they came from or went',
    description: MEANING,
    params: ProviderPath,
    query: z.object({ ...parameters, ...offsetParameters(50) }),
    output: {
      kind: 'signed',
      schema: z.object({
        provider: z.string(),
        provider_id: z.string(),
        direction: z.enum(['in', 'out']),
        days: z.number().describe('Length of the window; a fraction if it is not of complete days.'),
        since: z.iso.date().describe('The first day of the window.'),
        total: count.describe('Domains gained or lost within the window.'),
        ...pageFields,
        customers: z.array(CustomerSchema),
      }),
    },
    errors: ['unknown_provider'],
    cache: (app: StackApp, { provider, ...input }, context) => {
      const { id } = providerOf(app, provider, context);
      return {
        key: `customers ${id} ${JSON.stringify(input)}`,
        tags: [tags.provider(id), ...tags.changes],
        maxStaleMs: MAX_STALE_MS,
        maxAgeMs: WINDOW_MS,
      };
    },
  },
  async (app, input, context) => {
    const { direction, days, hours, since, until } = input;
    const { id, name } = providerOf(app, input.provider, context);
    const page = pageOf(input, LIST, [id, direction, days, hours, since, until]);
    // Later pages are of the window of the first one.
    const window = page.query.after?.[2] ?? windowIn(app, input);
    const filter = { provider: id, direction, ...datesOf(window) };
    const found = await listedCustomers(app, filter, page.query);
    const { rows, fields } = page.cut(found, (change) => [...changeKey(change, 'confirmedAt'), window]);
    return {
      provider: name,
      provider_id: id,
      direction,
      days: daysOf(window, app.clock().getTime()),
      since: dateOf(dayOf(window.since)),
      total: await countOf(app, filter, window),
      ...fields,
      customers: rows.map((customer) => customerReport(customer, app)),
    };
  },
);

/** The sums of complete days up to today are known. */
async function countOf(app: StackApp, filter: CustomerFilter, window: TimeWindow) {
  const { since, until } = window;
  if (until !== undefined || since % DAY_MS !== 0) return app.store.lists.countCustomers(filter);
  const { provider, direction } = filter;
  const days = { from: since / DAY_MS, to: dayOf(app.clock().getTime()) };
  const [gained, lost] = await movementOf(app, provider, days);
  return direction === 'in' ? gained : lost;
}

function customerReport(customer: Customer, { names }: StackApp): z.input<typeof CustomerSchema> {
  return {
    ...changeReport(customer, names),
    domain: customer.domain,
    moves: customer.moves.map(({ category, provider }) => ({
      category,
      provider: names.nameOf(provider),
      provider_id: provider,
    })),
  };
}

export const getCustomersCsv = route(
  {
    method: 'GET',
    path: '/stack/v1/providers/{provider}/customers.csv',
    tag: 'Exports',
    summary: 'Domains that a provider gained or lost as CSV, at most 1000 rows',
    description: MEANING,
    params: ProviderPath,
    query: z.object(parameters),
    output: {
      kind: 'csv',
      description: 'One domain per row.',
      columns: [
        { name: 'domain', description: 'Registrable domain.' },
        { name: 'confirmed_at', description: 'Time of the confirming observation, ISO 8601 UTC.' },
        { name: 'at', description: 'Time of the first observation, ISO 8601 UTC.' },
        { name: 'others', description: 'New or previous providers: `category: provider`, separated by semicolons.' },
        { name: 'confidence', description: 'high, medium or low.' },
      ],
    },
    errors: ['unknown_provider'],
    cache: (app: StackApp, { provider, ...input }, context) => {
      const { id } = providerOf(app, provider, context);
      const key = `customers.csv ${id} ${JSON.stringify(input)}`;
      return { key, tags: [tags.provider(id), ...tags.changes], maxStaleMs: MAX_STALE_MS, maxAgeMs: WINDOW_MS };
    },
  },
  async (app, { provider, direction, ...input }, context) => {
    const { id } = providerOf(app, provider, context);
    const filter = { provider: id, direction, ...datesOf(windowIn(app, input)) };
    const found = await listedCustomers(app, filter, { limit: MAX_ROWS + 1, offset: 0 });
    return {
      filename: `${id}-${direction === 'in' ? 'gained' : 'lost'}.csv`,
      isTruncated: found.length > MAX_ROWS,
      rows: found
        .slice(0, MAX_ROWS)
        .map(({ domain, confirmedAt, at, moves, confidence }) => [
          domain,
          confirmedAt.toISOString(),
          at.toISOString(),
          moves.map((move) => `${move.category}: ${app.names.nameOf(move.provider)}`).join('; '),
          confidence,
        ]),
    };
  },
);
