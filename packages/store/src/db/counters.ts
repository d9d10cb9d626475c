// The ends of the store's logs, and counters for changes that no log records. Other processes poll them to detect news.
import { type CompiledQuery, type Kysely, sql, type Transaction } from 'kysely';
import type { Database } from '../schema.ts';

/**
 * `alerts`: alerts written. `keys`: keys revoked. `feeds`: feeds polled, added or removed. `scheduler-term` and
 * `gateway-term`: the current term of the scheduler and of the gateway of the inference service. `alert-rows`,
 * `anomaly-rows`, `advisory-rows`, `score-rows`, `record-rows` by source: rows stored.
 */
export type CounterName =
  | 'alerts'
  | 'keys'
  | 'feeds'
  | 'scheduler-term'
  | 'gateway-term'
  | 'alert-rows'
  | 'anomaly-rows'
  | 'advisory-rows'
  | 'score-rows'
  | `record-rows ${string}`;

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

/** Adds to a counter in the transaction of the change that it counts, so that both become visible together. Returns the new value. */
export async function incrementCounter(tx: Transaction<Database>, name: CounterName, by = 1): Promise<number> {
  const { rows } = await tx.executeQuery(counterIncrement(tx, name, by));
  return rows[0]?.value ?? Number.NaN;
}

/** The query of `incrementCounter`. */
export const counterIncrement = (
  db: Kysely<Database>,
  name: CounterName,
  by = 1,
): CompiledQuery<{ readonly value: number }> =>
  db
    .insertInto('counters')
    .values({ name, value: by })
    .onConflict((conflict) => conflict.column('name').doUpdateSet((eb) => ({ value: eb('counters.value', '+', by) })))
    .returning('value')
    .compile();

export async function counterOf(db: Kysely<Database>, name: CounterName): Promise<number> {
  const row = await db.selectFrom('counters').where('name', '=', name).select('value').executeTakeFirst();
  return row?.value ?? 0;
}

/** One statement of index look-ups in one snapshot. The parameters make it a prepared statement. */
export async function readHeads(db: Kysely<Database>): Promise<StoreHeads> {
  const last = (table: string, key: string) => sql`coalesce((select max(${sql.ref(key)}) from ${sql.table(table)}), 0)`;
  const counter = (name: CounterName) => sql`coalesce((select value from counters where name = ${name}), 0)`;
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
