// The event log: domain events in one strictly increasing order, for the index, the caches and the public stream.
import type { Kysely, Selectable } from 'kysely';
import type { Database } from '../schema.ts';
import type { StoredEvent } from './stored-event.ts';

export class EventTable {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  /** Events after a sequence number, in order; numbers are never reused. */
  async since(seq: number, limit: number): Promise<StoredEvent[]> {
    const rows = await this.#db
      .selectFrom('events')
      .where('seq', '>', seq)
      .orderBy('seq')
      .limit(limit)
      .selectAll()
      .execute();
    return rows.map(storedEvent);
  }

  async latestSeq(): Promise<number> {
    const row = await this.#db.selectFrom('events').orderBy('seq', 'desc').limit(1).select('seq').executeTakeFirst();
    return row?.seq ?? 0;
  }
}

/** Only this package writes payloads, so their shape is trusted. */
function storedEvent(row: Selectable<Database['events']>): StoredEvent {
  return { ...row, at: new Date(row.at), payload: JSON.parse(row.payload) } as StoredEvent;
}
