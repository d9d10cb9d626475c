// The event log: what changed, in one strictly growing order. The index and the caches follow it.
import type { Kysely } from 'kysely';
import type { Database, EventKind } from './schema.ts';

export interface StoredEvent {
  readonly seq: number;
  readonly at: Date;
  readonly kind: EventKind;
  readonly domain: string;
  readonly payload: unknown;
}

export class EventTable {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  async since(seq: number, limit: number): Promise<StoredEvent[]> {
    const rows = await this.#db
      .selectFrom('events')
      .where('seq', '>', seq)
      .orderBy('seq')
      .limit(limit)
      .selectAll()
      .execute();
    return rows.map((row) => ({ ...row, at: new Date(row.at), payload: JSON.parse(row.payload) as unknown }));
  }

  async latestSeq(): Promise<number> {
    const row = await this.#db.selectFrom('events').orderBy('seq', 'desc').limit(1).select('seq').executeTakeFirst();
    return row?.seq ?? 0;
  }
}
