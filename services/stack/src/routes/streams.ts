// The public event stream by Server-Sent Events, and the same events for polling.
import { type RequestContext, route } from '@strata/http';
import { z } from 'zod';
import { AnomalySchema } from '../alerts/anomaly-report.ts';
import type { StackApp } from '../context.ts';
import { AdvisoryNewsSchema } from '../enrichment/exposure/advisory-report.ts';
import { tags } from '../index/live-index.ts';
import { microsecondsOf } from '../moments.ts';
import { ChangeSchema } from '../reports/domain-report.ts';
import { isWanted, type StreamFilter } from '../store/index.ts';
import { microseconds, timeOf } from '../stream/stream-publisher.ts';
import { domainOf } from './domains/domains.ts';
import { pageFields, pageOf, pageParameters } from './paging.ts';
import { CategoryParameter, providerIn, refuseField, Since, splitList, Text, WordList } from './parameters.ts';
import { ownList, WatchlistPath } from './watchlists/watchlists.ts';

const TYPES = ['migration', 'anomaly', 'service_change', 'advisory'] as const;

const filterShape = {
  types: WordList(TYPES)
    .describe('Only these types, separated by commas: migration, anomaly, service_change, advisory.')
    .optional(),
  domain: Text.describe('Only events of this domain.').optional(),
  provider: Text.describe('Only events of this provider: id, name or alias.').optional(),
  category: CategoryParameter.optional(),
  watchlist: WatchlistPath.shape.id
    .describe('Only events of the domains that this watchlist has at the beginning.')
    .optional(),
};
type FilterInput = z.output<z.ZodObject<typeof filterShape>>;

function filterOf(app: StackApp, input: FilterInput, context: RequestContext<'invalid_domain'>): StreamFilter {
  const { types, domain, provider, category } = input;
  return {
    ...(types === undefined ? {} : { types: splitList(types) }),
    ...(domain === undefined ? {} : { domain: domainOf(domain, context) }),
    ...(provider === undefined ? {} : { provider: providerIn(app, 'provider', provider) }),
    ...(category === undefined ? {} : { category }),
  };
}

const envelope = {
  _alpha: z.literal(true),
  _notice: z.string(),
  id: z.string(),
  at: z.iso.datetime().describe('Time of confirmation.'),
  published_at: z.string().describe('Time of publication in microseconds; unique for each event.'),
  provenance: z.looseObject({ receipt_id: z.string(), signature: z.string(), ledger_receipt_id: z.string() }),
};
const change = { ...envelope, domain: z.string(), change: ChangeSchema };
const MigrationEvent = z.object({ ...change, type: z.literal('migration') }).meta({ id: 'MigrationEvent' });
const ServiceChangeEvent = z
  .object({ ...change, type: z.literal('service_change') })
  .meta({ id: 'ServiceChangeEvent' });
const AnomalyEvent = z
  .object({ ...envelope, type: z.literal('anomaly'), domain: z.string().optional(), anomaly: AnomalySchema })
  .meta({ id: 'AnomalyEvent' });
const AdvisoryEvent = z
  .object({
    ...envelope,
    type: z.literal('advisory'),
    domain: z.string().optional(),
    reason: z
      .enum(['published', 'exploited', 'exposed'])
      .describe(
        'published: a new advisory; exploited: it is known to be exploited; exposed: a scan of `domain` shows affected versions.',
      ),
    advisories: z.array(AdvisoryNewsSchema),
  })
  .meta({ id: 'AdvisoryEvent' });

/** The filter with the domains of the watchlist that it names. */
async function fullFilterOf(
  app: StackApp,
  input: FilterInput,
  context: RequestContext<'invalid_domain' | 'not_found'>,
) {
  const filter = filterOf(app, input, context);
  if (input.watchlist === undefined) return filter;
  const list = await ownList(app, input.watchlist, context);
  return { ...filter, domains: new Set(await app.store.watchlists.domainsOf(list.id)) };
}

export const getStream = route(
  {
    method: 'GET',
    path: '/stack/v1/stream',
    tag: 'Streams',
    summary: 'SSE: migrations, anomalies and service changes',
    description:
      'Events from now on, or after the event in `Last-Event-ID`; begins with `event: reset` if the log no longer reaches back to it. A new client first gets an `id` without an event: the position to resume from. A comment is sent every 15 s. A client that reads too slowly is disconnected; a stream with a revoked key ends within a second. ' +
      "A browser's EventSource cannot send the key: read the stream with fetch.",
    query: z.object(filterShape),
    output: {
      kind: 'events',
      description: 'Server-Sent Events; `id` resumes.',
      events: [
        { name: 'migration', description: 'A change of holder in an exclusive role.', schema: MigrationEvent },
        {
          name: 'service_change',
          description: 'A service added, removed or reclassified.',
          schema: ServiceChangeEvent,
        },
        { name: 'anomaly', description: 'An anomalous day.', schema: AnomalyEvent },
        {
          name: 'advisory',
          description:
            'A vulnerability in a product of domains became known or exploited, or a domain became exposed to one.',
          schema: AdvisoryEvent,
        },
        {
          name: 'reset',
          description: 'The requested id is not in the log: events may have been missed.',
          schema: z.object({ reason: z.string(), last_event_id: z.string() }),
        },
      ],
    },
    errors: ['invalid_domain', 'not_found', 'unavailable'],
  },
  async (app: StackApp, input, context) => {
    const filter = await fullFilterOf(app, input, context);
    return (client) => app.hub.serve(client, filter);
  },
);

export const getStreamJson = route(
  {
    method: 'GET',
    path: '/stack/v1/stream/json',
    tag: 'Streams',
    summary: 'The same events as JSON, for polling',
    description:
      'Events published after `since`, oldest first. Continue with `next_since`: every event is returned exactly once. Without `since` it begins with the events of the last hour. `gap` reports that events between `since` and the first returned one are no longer, or were never, in the log.',
    query: z.object({ since: Since.optional(), ...pageParameters(100), ...filterShape }),
    output: {
      kind: 'signed',
      schema: z.object({
        events: z.array(z.union([MigrationEvent, ServiceChangeEvent, AnomalyEvent, AdvisoryEvent])),
        next_since: z.string(),
        has_more: z.boolean(),
        next_cursor: pageFields.next_cursor,
        gap: z.object({ from: z.string(), to: z.string(), reason: z.string() }).optional(),
      }),
    },
    errors: ['invalid_domain', 'not_found'],
    // Repeated polls without new events get the same answer with the same receipt.
    cache: (app: StackApp, input, context) =>
      (input.since === undefined && input.cursor === undefined) || input.watchlist !== undefined
        ? undefined
        : {
            key: `stream.json ${input.since} ${input.cursor} ${input.limit} ${JSON.stringify(filterOf(app, input, context))}`,
            tags: [...tags.stream],
            maxAgeMs: 60_000,
          },
  },
  async (app, input, context) => {
    const { stream } = app.store;
    const now = microseconds(app.now());
    const filter = await fullFilterOf(app, input, context);
    const list = pageOf(input, LIST, [filterOf(app, input, context), input.watchlist]);
    const given = input.since === undefined ? undefined : microsecondsOf(input.since, { now: now / 1_000 });
    const sinceUs = list.query.after ?? given ?? now - HOUR_US;
    if (sinceUs > now + AHEAD_US) return refuseField('since', 'is in the future');
    const page = await readPage(app, { sinceUs, filter, limit: input.limit });
    const beganUs = await stream.beganUs();
    const keptUs = (await stream.prunedThrough()) > 0 ? ((await oldestUs(app)) ?? now) : beganUs;
    const isGap = (given ?? list.query.after) !== undefined && sinceUs < keptUs - 1;
    // After the gap, so that it is reported once.
    const nextUs = isGap ? Math.max(page.lastUs, keptUs) : page.lastUs;
    return {
      events: page.events.map((event) => JSON.parse(event.body) as z.input<typeof MigrationEvent>),
      next_since: timeOf(nextUs),
      has_more: page.hasMore,
      next_cursor: page.hasMore ? list.cursor(nextUs, page.events.length) : null,
      ...(isGap
        ? {
            gap: {
              from: timeOf(sinceUs),
              to: timeOf(keptUs),
              reason: keptUs === beganUs ? 'the log began later' : 'older events are no longer kept',
            },
          }
        : {}),
    };
  },
);

/** By the microsecond of publication, which is unique. */
const LIST = { name: 'events', key: z.int() };
const HOUR_US = 3_600_000_000;
/** Tolerance for a client's clock that is ahead. */
const AHEAD_US = 300_000_000;
const ROWS_AT_ONCE = 500;
/** Rows per request: a selective filter must not read the complete log. */
const MAX_ROWS = 20_000;

async function readPage(
  app: StackApp,
  { sinceUs, filter, limit }: { readonly sinceUs: number; readonly filter: StreamFilter; readonly limit: number },
) {
  const { stream } = app.store;
  let seq = await stream.seqAt(sinceUs);
  let lastUs = sinceUs;
  let read = 0;
  const events = [];
  for (;;) {
    const rows = await stream.since(seq, ROWS_AT_ONCE);
    for (const row of rows) {
      const isMatch = isWanted(row, filter);
      if (isMatch && events.length === limit) return { events, lastUs, hasMore: true };
      if (isMatch) events.push(row);
      seq = row.seq;
      lastUs = row.publishedUs;
    }
    read += rows.length;
    if (rows.length < ROWS_AT_ONCE) return { events, lastUs, hasMore: false };
    if (read >= MAX_ROWS) return { events, lastUs, hasMore: true };
  }
}

async function oldestUs(app: StackApp): Promise<number | undefined> {
  const [oldest] = await app.store.stream.since(0, 1);
  return oldest?.publishedUs;
}
