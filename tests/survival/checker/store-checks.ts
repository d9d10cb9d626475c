// What the tables of a store must hold after a fault, by plain SQL: every acknowledged write, once and in order.
import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Row, Sql } from './database.ts';

export interface Finding {
  readonly kind: 'lost' | 'doubled' | 'wrong';
  readonly what: string;
}
export interface StreamedEvent {
  readonly seq: number;
  /** The signed JSON. */
  readonly body: string;
}
/** What clients got of a store. */
export interface Acknowledged {
  /** Time of the newest scan that an answer named, by domain. */
  readonly scans: ReadonlyMap<string, string>;
  /** Requests that were answered, by key. */
  readonly counted: ReadonlyMap<string, number>;
  /** In the order in which they came, over all connections. */
  readonly events: readonly StreamedEvent[];
}

/** Requests a day of the keys in `counted`. */
const DAILY_LIMIT = 50;

/** The first difference between what must be there, in order, and what is. */
function* compared(what: string, expected: readonly unknown[], actual: readonly unknown[]): Generator<Finding> {
  const doubled = actual.length - new Set(actual).size;
  if (doubled > 0) yield { kind: 'doubled', what: `${doubled} ${what}` };
  const there = new Set(actual);
  const lost = expected.filter((each) => !there.has(each));
  if (lost.length > 0) yield { kind: 'lost', what: `${lost.length} ${what}, ${lost[0]} first` };
  else if (doubled === 0 && !isDeepStrictEqual(expected, actual)) {
    const at = actual.findIndex((each, i) => each !== expected[i]);
    yield { kind: 'wrong', what: `${what} are not in order: ${actual[at]} in place of ${expected[at]}` };
  }
}

const numberIn = (id: unknown) => Number(/\d+$/.exec(String(id))?.[0]);
const min = (first: number) => (number: number) => number >= first;

/** Scans, keys and quotas. */
export async function* checkState(sql: Sql, { scans, counted }: Acknowledged): AsyncGenerator<Finding> {
  const twice = await sql('select 1 from scans group by domain_id, observed_at having count(*) > 1');
  if (twice.length > 0) yield { kind: 'doubled', what: `${twice.length} scans` };
  const times = await sql('select name, last_scanned_at from domains');
  const lastScans = new Map(times.map(({ name, last_scanned_at }) => [name, Number(last_scanned_at)]));
  for (const [domain, at] of scans)
    if (!((lastScans.get(domain) ?? 0) >= Date.parse(at)))
      yield { kind: 'lost', what: `the scan of ${domain} at ${at}` };
  const keys = await sql('select hash, id from api_keys where revoked_at is null');
  const ids = new Map(keys.map((row) => [row.hash, row.id]));
  const usage = Map.groupBy(await sql('select key_id, used from quota_usage'), (row) => row.key_id);
  for (const [key, answered] of counted) {
    const id = ids.get(hash('sha256', key, 'hex'));
    if (id === undefined) yield { kind: 'lost', what: 'a key that was given' };
    const days = (usage.get(id) ?? []).map(({ used }) => Number(used));
    const used = days.reduce((a, b) => a + b, 0);
    if (used < answered) yield { kind: 'lost', what: `requests of ${id}: ${answered} answered, ${used} counted` };
    if (days.some((each) => each > DAILY_LIMIT)) yield { kind: 'wrong', what: `${id} got more than its limit` };
  }
}

/** Changes become events, events become the stream, and the stream reaches clients: each once, in one order. */
export async function* checkEvents(sql: Sql, { events }: Acknowledged): AsyncGenerator<Finding> {
  const cursor = async () => {
    const [row] = await sql("select value from settings where name = 'stream-cursor'");
    return Number(row?.value ?? 0);
  };
  const [last] = await sql('select max(seq) as seq from events');
  for (let tries = 0; tries < 600 && (await cursor()) < Number(last?.seq ?? 0); tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 100));
  const published = await cursor();
  if (published < Number(last?.seq ?? 0)) yield { kind: 'lost', what: `events after ${published} are not published` };

  const changes = (await sql('select id from changes order by id')).map(({ id }) => Number(id));
  const confirmed = await sql("select seq, payload from events where kind = 'change-confirmed' order by seq");
  const ofEvents = confirmed.map(({ payload }) => numberIn(JSON.parse(String(payload)).id));
  // Old rows of either table may be pruned, and newer ones be written between the two statements.
  const [first, newest] = [Math.max(ofEvents[0] ?? 0, changes[0] ?? 0), changes.at(-1) ?? 0];
  const inBoth = (id: number) => id >= first && id <= newest;
  yield* compared('events of changes', changes.filter(inBoth), ofEvents.filter(inBoth));

  const stream = await sql('select seq, published_us, body from stream_events order by seq');
  const isUnordered = (row: Row, i: number) => i > 0 && Number(row.published_us) <= Number(stream[i - 1]?.published_us);
  if (stream.some(isUnordered)) yield { kind: 'wrong', what: 'times of the stream do not grow' };
  const ids = stream.map(({ body }) => numberIn(JSON.parse(String(body)).id));
  const streamed = Math.max(ids[0] ?? 0, Number(confirmed[0]?.seq ?? 0));
  const seqs = confirmed.map(({ seq }) => Number(seq)).filter((seq) => seq >= streamed && seq <= published);
  const isChange = new Set(seqs);
  const expected = ids.filter(min(streamed)).filter((id) => isChange.has(id));
  yield* compared('events of the stream', seqs, expected);

  const [from, to] = [events[0]?.seq ?? 0, events.at(-1)?.seq ?? -1];
  const textOf = (event: Row | StreamedEvent) => `${event.seq} ${event.body}`;
  const between = stream.filter(({ seq }) => Number(seq) >= from && Number(seq) <= to);
  yield* compared('events that a client got', between.map(textOf), events.map(textOf));
}

/** The inference service's count of requests and tokens is that of the receipts that it keeps, those that clients have among them. */
export async function* checkUsage(sql: Sql, receiptIds: ReadonlySet<string>): AsyncGenerator<Finding> {
  const receipts = await sql('select id, key_id, body from answer_receipts order by seq');
  const kept = new Set(receipts.map(({ id }) => id));
  for (const id of receiptIds) if (!kept.has(id)) yield { kind: 'lost', what: `the receipt ${id}` };
  const counted = await sql(`select key_id, sum(requests) as requests, sum(completion_tokens) as tokens
    from token_usage group by key_id order by key_id`);
  const tokensOf = ({ body }: Row) => Number(JSON.parse(String(body)).usage.completion_tokens);
  const signed = [...Map.groupBy(receipts, ({ key_id }) => String(key_id))].map(([key_id, all]) => ({
    ...{ key_id, requests: all.length, tokens: all.reduce((sum, row) => sum + tokensOf(row), 0) },
  }));
  signed.sort((a, b) => (a.key_id < b.key_id ? -1 : 1));
  const [used, given] = [counted, signed].map((each) => JSON.stringify(each));
  if (used !== given) yield { kind: 'wrong', what: `usage: counted ${used}, receipts ${given}` };
}
