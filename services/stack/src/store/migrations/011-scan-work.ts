// Scan work shared by several processes: scan leases, the revision of a domain, and the columns of the schedule.

import { createTable } from '@strata/db';
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [name, type] of [
    ['revision', 'integer'],
    ['is_waiting', 'integer'],
    ['tracked_ms', 'integer'],
    ['changes_seen', 'real'],
  ] as const) {
    await db.schema
      .alterTable('domains')
      .addColumn(name, type, (column) => column.notNull().defaultTo(0))
      .execute();
  }
  await db.schema.alterTable('domains').addColumn('asked_at', 'integer').execute();
  // Few domains, which are scanned first.
  await db.schema
    .createIndex('domains_waiting')
    .on('domains')
    .columns(['next_due_at', 'id'])
    .where(sql.ref('is_waiting'), '=', sql.lit(1))
    .execute();
  // A separate table: a lease is written and deleted with each scan, and rows of domains are long.
  await createTable(db, 'scan_leases')
    .addColumn('domain_id', 'integer', (column) => column.primaryKey().references('domains.id'))
    .addColumn('holder', 'text', (column) => column.notNull())
    .addColumn('until', 'integer', (column) => column.notNull())
    .execute();
}
