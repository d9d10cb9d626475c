// Migrations of the table of segments; each keeps the number under which it was released.
import { createTable } from '@strata/db';
import { type Kysely, sql } from 'kysely';

export async function createSegments(db: Kysely<unknown>): Promise<void> {
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
}

/** An index of segments that still have their proof: old proofs are deleted in batches, without visiting those already deleted. */
export async function indexSegmentProofs(db: Kysely<unknown>): Promise<void> {
  await sql`create index segments_proved on segments (ended_at) where length(receipt) > 0`.execute(db);
}
