// Jobs that write files for keys, with the lease of the node that works on each, and the content of their files.
import { createTable } from '@strata/db';
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await createTable(db, 'jobs')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('created_at', 'integer', (column) => column.notNull())
    .addColumn('is_ended', 'integer', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('lease_owner', 'text')
    .addColumn('lease_until', 'integer', (column) => column.notNull())
    .execute();

  await createTable(db, 'job_chunks')
    .addColumn('job_id', 'text', (column) => column.notNull())
    .addColumn('attempt', 'integer', (column) => column.notNull())
    .addColumn('n', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'integer', (column) => column.notNull())
    .addColumn('bytes', 'blob', (column) => column.notNull())
    .addPrimaryKeyConstraint('job_chunks_key', ['job_id', 'attempt', 'n'])
    .execute();
}
