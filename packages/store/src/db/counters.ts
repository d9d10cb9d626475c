// Where the store's logs end, and numbers that grow with what no log tells: what a follower in another process looks at, again and
// again, to see whether there is anything to read.
import { type CompiledQuery, type Kysely, sql, type Transaction } from 'kysely';
import type { Database } from '../schema.ts';

/**
 * `alerts`: one was written. `keys`: one was revoked. `feeds`: one was polled, added or given up. `scheduler-term`: another process
 * has become the scheduler. `gateway-term`: another gateway has begun to work on the database of the inference service. `alert-rows`,
 * `anomaly-rows`, `advisory-rows`, `score-rows`, `record-rows` by source: how many are kept.
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

/** The last number of each log, and the counters; 0 where there is nothing yet. What differs has news. */
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

/** Adds to a counter in the transaction that it tells of, so that both are seen together. Gives the new value. */
export async function bump(tx: Transaction<Database>, name: CounterName, by = 1): Promise<number> {
  const { rows } = await tx.executeQuery(bumping(tx, name, by));
  return rows[0]?.value ?? Number.NaN;
}

/** The same as a query. */
export const bumping = (db: Kysely<Database>, name: CounterName, by = 1): CompiledQuery<{ readonly value: number }> =>
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

/** One statement of look-ups at the ends of indexes, as of one moment. With values, so that it is prepared. */
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
