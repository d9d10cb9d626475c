// The ends of the store's logs. Other processes poll them to detect news.
import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema.ts';

/** The last number of each log, and the counters; 0 for an empty log. A value that differs from the last read means news. */
export interface StoreHeads {
  readonly events: number;
  readonly scans: number;
  readonly stream: number;
  readonly advisories: number;
  readonly mentions: number;
  readonly alerts: number;
  readonly keys: number;
  readonly feeds: number;
}

/** One statement of index look-ups in one snapshot. The parameters make it a prepared statement. */
export async function readHeads(db: Kysely<Database>): Promise<StoreHeads> {
  const last = (table: string, key: string) => sql`coalesce((select max(${sql.ref(key)}) from ${sql.table(table)}), 0)`;
  const counter = (name: string) => sql`coalesce((select value from counters where name = ${name}), 0)`;
  const { rows } = await sql<StoreHeads>`select
    ${last('events', 'seq')} as events,
    ${last('scans', 'id')} as scans,
    ${last('stream_events', 'seq')} as stream,
    ${last('advisory_changes', 'seq')} as advisories,
    ${last('feed_mentions', 'id')} as mentions,
    ${counter('alerts')} as alerts,
    ${counter('keys')} as keys,
    ${counter('feeds')} as feeds`.execute(db);
  return { ...(rows[0] as StoreHeads) };
}
