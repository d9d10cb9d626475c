// Receipts of segments, signed by worker and gateway, and the reputation of each worker.

import { createTable } from '@strata/db';
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await createTable(db, 'segments', { id: 'generated', key: 'seq' })
    .addColumn('nonce', 'blob', (column) => column.notNull().unique())
    .addColumn('worker', 'text', (column) => column.notNull())
    .addColumn('gateway', 'text', (column) => column.notNull())
    .addColumn('caller', 'text')
    .addColumn('model_sha256', 'text', (column) => column.notNull())
    .addColumn('prompt_tokens', 'integer', (column) => column.notNull())
    .addColumn('cached_tokens', 'integer', (column) => column.notNull())
    .addColumn('output_tokens', 'integer', (column) => column.notNull())
    .addColumn('ended_at', 'integer', (column) => column.notNull())
    .addColumn('receipt', 'blob', (column) => column.notNull())
    .addColumn('worker_signature', 'blob', (column) => column.notNull())
    .addColumn('gateway_signature', 'blob')
    .execute();
  await db.schema.createIndex('segments_ended').on('segments').column('ended_at').execute();

  await createTable(db, 'standings')
    .addColumn('peer', 'text', (column) => column.primaryKey())
    .addColumn('standing', 'text', (column) => column.notNull())
    .execute();
}
