// What the inference service remembers: the receipt of each answer, and what each key used of each model, day by day.
import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import { createTable } from './table.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  await createTable(db, 'answer_receipts')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('key_id', 'text', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('is_logged', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  // Almost always empty: what a kill left between the two.
  await db.schema
    .createIndex('answer_receipts_unlogged')
    .on('answer_receipts')
    .columns(['id'])
    .where(sql.ref('is_logged'), '=', 0)
    .execute();

  await createTable(db, 'token_usage')
    .addColumn('key_id', 'text', (column) => column.notNull())
    .addColumn('day', 'text', (column) => column.notNull())
    .addColumn('model', 'text', (column) => column.notNull())
    .addColumn('requests', 'integer', (column) => column.notNull())
    .addColumn('prompt_tokens', 'integer', (column) => column.notNull())
    .addColumn('cached_tokens', 'integer', (column) => column.notNull())
    .addColumn('completion_tokens', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('token_usage_key', ['key_id', 'day', 'model'])
    .execute();
}
