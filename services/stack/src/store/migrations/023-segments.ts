// Segments: queries that a key has saved under a name.
import { createTable } from '@strata/db';
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await createTable(db, 'saved_segments')
    .addColumn('key_id', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('query', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('saved_segments_key', ['key_id', 'name'])
    .execute();
}
