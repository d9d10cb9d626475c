// Tables of the inference service: the receipt of each answer, and the usage by key, model and day.

import { createTable } from '@strata/db';
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await createTable(db, 'answer_receipts', { id: 'generated', key: 'seq' })
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('key_id', 'text', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
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
