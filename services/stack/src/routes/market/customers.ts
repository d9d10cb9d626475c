// Domains that a provider gained or lost, when, and their previous or new providers.
import { DAY_MS, dayOf, TREND_DAYS } from '@strata/analytics';
import { CATEGORIES } from '@strata/detect';
import { route } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
import { type Customer, listedCustomers } from '../../index/listed-changes.ts';
import { dateOf, MAX_STALE_MS, tags } from '../../index/live-index.ts';
import { changeReport } from '../../reports/domain-report.ts';
import { Integer, Limit, Offset, ProviderPath, providerOf, Word } from '../parameters.ts';
import { MigrationSchema } from './migrations.ts';

const WINDOW_MS = 60_000;
const MAX_ROWS = 1_000;
const count = z.int().min(0);

const MEANING =
  'Domains that started to use a provider (`in`) or stopped using it completely (`out`), as counted by `gained_30d` and `lost_30d`: a domain that moves one service and keeps another is in neither list. Last confirmed first.';

const parameters = {
  direction: Word(['in', 'out']).describe('`in`: gained; `out`: lost.').default('out'),
  days: Integer({ min: 1, max: 365 })
    .describe('Confirmed within this number of UTC days, including today.')
    .default(TREND_DAYS),
};

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
    query: z.object({ ...parameters, limit: Limit.default(50), offset: Offset.default(0) }),
    output: {
      kind: 'signed',
      schema: z.object({
        provider: z.string(),
        provider_id: z.string(),
        direction: z.enum(['in', 'out']),
        days: z.int(),
        since: z.iso.date().describe('The first day of the window.'),
        total: count.describe('Domains gained or lost within the window.'),
        limit: z.int(),
        offset: z.int(),
        customers: z.array(CustomerSchema),
      }),
    },
    errors: ['unknown_provider'],
    access: 'key',
    cache: (app: StackApp, { provider, direction, days, limit, offset }, context) => {
      const { id } = providerOf(app, provider, context);
      return {
        key: `customers ${id} ${direction} ${days} ${limit} ${offset}`,
        tags: [tags.provider(id), ...tags.changes],
        maxStaleMs: MAX_STALE_MS,
        maxAgeMs: WINDOW_MS,
      };
    },
  },
  async (app, { provider, direction, days, limit, offset }, context) => {
    const { id, name } = providerOf(app, provider, context);
    const today = dayOf(app.clock().getTime());
    const first = today - days + 1;
    const { gained, lost } = app.index.history.movement({ provider: id }, first, today);
    const filter = { provider: id, direction, since: new Date(first * DAY_MS) };
    const found = await listedCustomers(app, filter, { limit, offset });
    return {
      provider: name,
      provider_id: id,
      direction,
      days,
      since: dateOf(first),
      total: direction === 'in' ? gained : lost,
      limit,
      offset,
      customers: found.map((customer) => customerReport(customer, app)),
    };
  },
);

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
    access: 'key',
    cache: (app: StackApp, { provider, direction, days }, context) => {
      const { id } = providerOf(app, provider, context);
      const key = `customers.csv ${id} ${direction} ${days}`;
      return { key, tags: [tags.provider(id), ...tags.changes], maxStaleMs: MAX_STALE_MS, maxAgeMs: WINDOW_MS };
    },
  },
  async (app, { provider, direction, days }, context) => {
    const { id } = providerOf(app, provider, context);
    const since = new Date((dayOf(app.clock().getTime()) - days + 1) * DAY_MS);
    const page = { limit: MAX_ROWS + 1, offset: 0 };
    const found = await listedCustomers(app, { provider: id, direction, since }, page);
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
