// Scans and changes by UTC day, and counts of alerts and anomalies, which would otherwise be counted over all rows. Sizes of tables
// by day, and an index for the deletion of scans.

import { createTable } from '@strata/db';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { countChangeDays, countScanDays } from '../history/day-counts.ts';

/** Keeps each statement far below the statement time-out. */
const ROWS_AT_ONCE = 500_000;

export async function up(db: Kysely<unknown>): Promise<void> {
  const counts = ['gained', 'entered', 'lost', 'exited', 'migrated', 'reclassified'] as const;
  await createTable(db, 'scan_days')
    .addColumn('day', 'integer', (column) => column.notNull())
    .addColumn('rulebook', 'text', (column) => column.notNull())
    .addColumn('scans', 'integer', (column) => column.notNull())
    .addColumn('measured', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('scan_days_key', ['day', 'rulebook'])
    .execute();
  let table = createTable(db, 'change_days')
    .addColumn('day', 'integer', (column) => column.notNull())
    .addColumn('category', 'text', (column) => column.notNull())
    .addColumn('provider', 'text', (column) => column.notNull());
  for (const count of counts) table = table.addColumn(count, 'integer', (column) => column.notNull());
  await table.addPrimaryKeyConstraint('change_days_key', ['day', 'category', 'provider']).execute();
  await createTable(db, 'table_sizes')
    .addColumn('day', 'integer', (column) => column.notNull())
    .addColumn('table_name', 'text', (column) => column.notNull())
    .addColumn('table_rows', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('table_sizes_key', ['day', 'table_name'])
    .execute();
  await countAll(db, 'scans', countScanDays);
  await countAll(db, 'changes', countChangeDays);
  // Scans that a change refers to are kept as long as the change: the deletion of scans checks for changes.
  await db.schema.createIndex('changes_scan').on('changes').column('scan_id').execute();
  await sql`insert into counters (name, value)
    select 'alert-rows', count(*) from alerts having count(*) > 0
    union all select 'anomaly-rows', count(*) from anomalies having count(*) > 0`.execute(db);
}

async function countAll(
  db: Kysely<unknown>,
  table: 'scans' | 'changes',
  count: (rows: RawBuilder<unknown>) => RawBuilder<never>,
): Promise<void> {
  const name = sql.table(table);
  const { rows } = await sql<{ first: number | null; last: number | null }>`
    select (select min(id) from ${name}) as first, (select max(id) from ${name}) as last`.execute(db);
  const { first = null, last = null } = rows[0] ?? {};
  if (first === null || last === null) return;
  for (let from = first; from <= last; from += ROWS_AT_ONCE) {
    const to = from + ROWS_AT_ONCE;
    await count(sql`(select * from ${name} where id >= ${sql.lit(from)} and id < ${sql.lit(to)})`).execute(db);
  }
}
