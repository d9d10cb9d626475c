// The public stream: signed events in order of publication, each with a unique time.

import {
  executePipelined,
  type Guard,
  jsonRows,
  readSetting,
  unguarded,
  writePipelined,
  writeSetting,
  writeTransaction,
} from '@strata/db';
import { type CompiledQuery, type Kysely, sql } from 'kysely';
import type { Database } from '../schema.ts';

export interface StreamEvent {
  readonly seq: number;
  /** Microseconds since the epoch, strictly increasing with `seq`: a time identifies one event. */
  readonly publishedUs: number;
  readonly type: string;
  readonly domain: string | null;
  readonly providers: readonly string[];
  readonly category: string | null;
  /** The signed JSON that is sent. */
  readonly body: string;
}

export interface StreamFilter {
  readonly types?: readonly string[];
  readonly domain?: string;
  readonly domains?: ReadonlySet<string>;
  readonly provider?: string;
  readonly category?: string;
}

const CURSOR = 'stream-cursor';
const BEGAN = 'stream-began-us';
const PRUNED = 'stream-pruned-through';
const EVENT = {
  published_us: 'integer',
  type: 'text',
  domain: 'text',
  providers: 'text',
  category: 'text',
  body: 'text',
} as const;

export class StreamTable {
  readonly #db: Kysely<Database>;
  readonly #guard: Guard;

  constructor(db: Kysely<Database>, guard: Guard = unguarded) {
    this.#db = db;
    this.#guard = guard;
  }

  /** The last event of the internal log that was published; undefined before the stream began. */
  async cursor(): Promise<number | undefined> {
    return readNumber(this.#db, CURSOR);
  }

  /** When the stream began, in microseconds; 0 if it has not begun. */
  async beganUs(): Promise<number> {
    return (await readNumber(this.#db, BEGAN)) ?? 0;
  }

  /** The last deleted number; 0 if none was deleted. */
  async prunedThrough(): Promise<number> {
    return (await readNumber(this.#db, PRUNED)) ?? 0;
  }

  /** Begins the stream after this event of the internal log, unless it has begun. */
  async begin(cursor: number, nowUs: number): Promise<void> {
    await writeTransaction(this.#db, async (tx) => {
      if ((await readNumber(tx, CURSOR)) !== undefined) return;
      await executePipelined(tx, [writeNumber(tx, CURSOR, cursor), writeNumber(tx, BEGAN, nowUs)], { isLast: true });
    });
  }

  /**
   * Appends events and moves the cursor in one transaction. Returns undefined and writes nothing if another process has moved
   * the cursor, so that no event is published twice.
   */
  async append(
    events: readonly Omit<StreamEvent, 'seq'>[],
    cursor: { readonly from: number; readonly to: number },
  ): Promise<readonly StreamEvent[] | undefined> {
    const [from, to] = [String(cursor.from), String(cursor.to)];
    const rows = events.map(({ publishedUs, type, domain, providers, category, body }) => {
      const listed = providers.length > 0 ? `,${providers.join(',')},` : '';
      return [publishedUs, type, domain, listed, category, body];
    });
    const adding = sql<{ readonly seq: number }>`
      insert into stream_events (${sql.join(Object.keys(EVENT).map((name) => sql.ref(name)))})
      select * from ${jsonRows(this.#db, rows, EVENT)} as new
      where (select value from settings where name = ${CURSOR}) = ${from} returning seq`.compile(this.#db);
    const moving = this.#db
      .updateTable('settings')
      .set({ value: to })
      .where('name', '=', CURSOR)
      .where('value', '=', from)
      .compile();
    const [added, moved] = await writePipelined(this.#db, [adding, moving], this.#guard);
    if (moved.numAffectedRows !== 1n) return undefined;
    // Numbers are assigned in row order, but may be returned in any order.
    const numbers = added.rows.map(({ seq }) => seq).sort((a, b) => a - b);
    return events.map((event, n) => ({ ...event, seq: numbers[n] ?? Number.NaN }));
  }

  async latest(): Promise<StreamEvent | undefined> {
    const row = await this.#db
      .selectFrom('stream_events')
      .orderBy('seq', 'desc')
      .limit(1)
      .selectAll()
      .executeTakeFirst();
    return row && streamEvent(row);
  }

  /** Events after a number, in order. */
  async since(seq: number, limit: number): Promise<StreamEvent[]> {
    const rows = await this.#db
      .selectFrom('stream_events')
      .where('seq', '>', seq)
      .orderBy('seq')
      .limit(limit)
      .selectAll()
      .execute();
    return rows.map(streamEvent);
  }

  /** The number of the last event published at or before a time in microseconds; 0 without one. */
  async seqAt(us: number): Promise<number> {
    const row = await this.#db
      .selectFrom('stream_events')
      .where('published_us', '<=', us)
      .orderBy('published_us', 'desc')
      .limit(1)
      .select('seq')
      .executeTakeFirst();
    return row?.seq ?? 0;
  }

  /** Deletes at most `limit` events published before a time; returns how many. */
  async prune(beforeUs: number, limit: number): Promise<number> {
    return writeTransaction(this.#db, async (tx) => {
      await this.#guard(tx);
      const rows = await tx
        .selectFrom('stream_events')
        .where('published_us', '<', beforeUs)
        .orderBy('published_us')
        .limit(limit)
        .select('seq')
        .execute();
      const last = rows.at(-1)?.seq;
      if (last === undefined) return 0;
      const deleting = tx.deleteFrom('stream_events').where('seq', '<=', last).compile();
      await executePipelined(tx, [deleting, writeNumber(tx, PRUNED, last)], { isLast: true });
      return rows.length;
    });
  }
}

/** Whether an event matches a subscriber's filter. */
export function isWanted(event: StreamEvent, { types, domain, domains, provider, category }: StreamFilter): boolean {
  if (types && !types.includes(event.type)) return false;
  if (domain !== undefined && event.domain !== domain) return false;
  if (domains && (event.domain === null || !domains.has(event.domain))) return false;
  if (provider !== undefined && !event.providers.includes(provider)) return false;
  return category === undefined || event.category === category;
}

function streamEvent(row: {
  readonly seq: number;
  readonly published_us: number;
  readonly type: string;
  readonly domain: string | null;
  readonly providers: string;
  readonly category: string | null;
  readonly body: string;
}): StreamEvent {
  const { seq, published_us: publishedUs, type, domain, category, body } = row;
  return { seq, publishedUs, type, domain, providers: row.providers.split(',').filter(Boolean), category, body };
}

async function readNumber(db: Kysely<Database>, name: string): Promise<number | undefined> {
  const value = await readSetting(db, name);
  return value === undefined ? undefined : Number(value);
}

const writeNumber = (db: Kysely<Database>, name: string, value: number): CompiledQuery =>
  writeSetting(db, name, String(value));
