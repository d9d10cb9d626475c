// Migrations of what belongs to an API key in addition to the key itself.
import { createTable } from '@strata/db';
import type { Kysely } from 'kysely';

/** Requests of each key by UTC day, path and source. */
export async function keyUsage(db: Kysely<unknown>): Promise<void> {
  let table = createTable(db, 'key_usage');
  for (const name of ['key_id', 'day', 'path', 'source'])
    table = table.addColumn(name, 'text', (column) => column.notNull());
  for (const name of ['requests', 'counted']) table = table.addColumn(name, 'integer', (column) => column.notNull());
  await table.addPrimaryKeyConstraint('key_usage_key', ['key_id', 'day', 'path', 'source']).execute();
  await db.schema.createIndex('key_usage_days').on('key_usage').column('day').execute();
}

/** Segments: queries that a key has saved under a name. */
export async function segments(db: Kysely<unknown>): Promise<void> {
  await createTable(db, 'saved_segments')
    .addColumn('key_id', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('query', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('saved_segments_key', ['key_id', 'name'])
    .execute();
}

/** Jobs that write files for keys, with the lease of the node that works on each, and the content of their files. */
export async function jobs(db: Kysely<unknown>): Promise<void> {
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
