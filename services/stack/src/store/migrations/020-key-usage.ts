// Requests of each key by UTC day, path and source.
import { createTable } from '@strata/db';
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  let table = createTable(db, 'key_usage');
  for (const name of ['key_id', 'day', 'path', 'source'])
    table = table.addColumn(name, 'text', (column) => column.notNull());
  for (const name of ['requests', 'counted']) table = table.addColumn(name, 'integer', (column) => column.notNull());
  await table.addPrimaryKeyConstraint('key_usage_key', ['key_id', 'day', 'path', 'source']).execute();
  await db.schema.createIndex('key_usage_days').on('key_usage').column('day').execute();
}
