// Removes what a store has of other services: until migration 018 every store had the tables of all services.
import { type Kysely, sql } from 'kysely';
import { isPostgres } from '../dialects/postgres-dialect.ts';
import { StoreError } from '../store-error.ts';
import type { Migrations } from './migrator.ts';

/** The tables of every store until migration 018; a table follows the tables that it references. This list is never changed. */
const TABLES_UNTIL_018 = [
  ...['settings', 'counters', 'table_sizes', 'api_keys', 'quota_usage', 'domains', 'on_demand_days', 'scan_leases'],
  ...['services', 'scans', 'scan_days', 'changes', 'change_days', 'events', 'evidence', 'stream_events', 'anomalies'],
  ...['alerts', 'answer_receipts', 'token_usage', 'segments', 'standings', 'advisory_sources', 'advisory_records'],
  ...['advisories', 'advisory_products', 'known_exploited', 'exploit_scores', 'advisory_changes', 'advisory_tellings'],
  ...['feeds', 'feed_moves', 'feed_items', 'named_domains', 'feed_mentions', 'feed_domains'],
  ...['ledger_head', 'ledger_leaves', 'ledger_subtrees', 'ledger_keys'],
];

/** Tables that only one service fills: with rows in these alone that are not its own, the store is another service's. */
const FILLED_BY_ONE_SERVICE = ['domains', 'answer_receipts', 'token_usage', 'segments'];

/** The names until 018, when all services had one list. This list is never changed. */
const NAMES_UNTIL_018 = [
  ...['001-initial', '002-sets-and-streams', '003-changes-by-category', '004-answers', '005-advisories', '006-feeds'],
  ...['007-segments', '008-key-priority', '009-segment-proofs', '010-changes-by-confirmation', '011-scan-work'],
  ...['012-counters', '013-ledger', '014-report-views', '015-day-counts', '016-on-demand', '017-changes-between'],
  '018-advisory-counts',
];

/** The migration of a name whose tables belong to another service. */
export async function nothing(): Promise<void> {}

/** Migrations of a service, in order, with the names of other services' tables: those do nothing. */
export const withOldNames = (own: Migrations): Migrations => ({
  ...Object.fromEntries(NAMES_UNTIL_018.map((name) => [name, nothing])),
  ...own,
});

/**
 * Drops each of these tables that is not the service's own and is empty, and on PostgreSQL the views of it. A table with rows is
 * left, and not used: rows are never dropped. Rejects with StoreError `names-taken`, before anything is written, if only another
 * service has used the store: with this migration its owner could never open it again.
 */
export async function dropForeignTables(db: Kysely<unknown>, own: readonly string[]): Promise<void> {
  const foreign = TABLES_UNTIL_018.filter((name) => !own.includes(name));
  const list = sql.join(foreign);
  const existing = isPostgres(db)
    ? sql<{ name: string }>`select relname as name from pg_class
        where relnamespace = current_schema()::regnamespace and relkind = 'r' and relname in (${list})`
    : sql<{ name: string }>`select name from sqlite_schema where type = 'table' and name in (${list})`;
  const found = new Set((await existing.execute(db)).rows.map(({ name }) => name));
  const isFilled = async (name: string) =>
    (await sql`select 1 from ${sql.table(name)} limit 1`.execute(db)).rows.length > 0;
  const isUsed = await Promise.all(FILLED_BY_ONE_SERVICE.filter((name) => own.includes(name)).map(isFilled));
  for (const name of isUsed.includes(true) ? [] : FILLED_BY_ONE_SERVICE) {
    if (found.has(name) && (await isFilled(name)))
      throw new StoreError('names-taken', { cause: new Error(`the table ${name} of another service has rows`) });
  }
  for (const name of foreign.toReversed()) {
    if (!found.has(name) || (await isFilled(name))) continue;
    const table = sql.table(name);
    await (isPostgres(db) ? sql`drop table ${table} cascade` : sql`drop table ${table}`).execute(db);
  }
}
