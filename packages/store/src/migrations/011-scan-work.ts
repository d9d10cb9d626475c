// Scan work that many processes share: who scans what, and whether a domain has moved since it was read.
import type { Kysely } from 'kysely';
import { createTable } from './table.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('domains')
    .addColumn('revision', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  // A table of its own: a lease comes and goes with each scan, and the rows of domains are long.
  await createTable(db, 'scan_leases')
    .addColumn('domain_id', 'integer', (column) => column.primaryKey().references('domains.id'))
    .addColumn('holder', 'text', (column) => column.notNull())
    .addColumn('until', 'integer', (column) => column.notNull())
    .execute();
}
