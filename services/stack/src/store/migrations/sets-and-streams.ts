// Columns for counts over all domains, indexes for lists by provider and time, and the public stream.
import { randomUUID } from 'node:crypto';
import { createTable } from '@strata/db';
import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema.ts';

export async function setsAndStreams(db: Kysely<unknown>): Promise<void> {
  // Zero means "not measured": an existing domain gets its bits with its next scan.
  for (const column of ['posture_bits', 'holder_bits'] as const) {
    await db.schema
      .alterTable('domains')
      .addColumn(column, 'integer', (definition) => definition.notNull().defaultTo(0))
      .execute();
  }
  await db.schema.alterTable('domains').addColumn('score', 'integer').execute();
  for (const column of ['observed_at', 'records'] as const) {
    await db.schema
      .alterTable('scans')
      .addColumn(column, 'integer', (definition) => definition.notNull().defaultTo(0))
      .execute();
  }
  await sql`update scans set observed_at = started_at`.execute(db);
  for (const column of ['is_entry', 'is_exit'] as const) {
    await db.schema
      .alterTable('changes')
      .addColumn(column, 'integer', (definition) => definition.notNull().defaultTo(1))
      .execute();
  }
  await sql`update events set kind = 'change-confirmed' where kind = 'migration'`.execute(db);
  const index = (name: string, columns: string[]) =>
    db.schema.createIndex(name).on('changes').columns(columns).execute();
  await index('changes_type', ['type', 'at', 'id']);
  await index('changes_from', ['from_provider', 'type', 'at', 'id']);
  await index('changes_to', ['to_provider', 'type', 'at', 'id']);

  await createTable(db, 'stream_events', { id: 'generated', key: 'seq' })
    .addColumn('published_us', 'integer', (column) => column.notNull().unique())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('domain', 'text')
    .addColumn('providers', 'text', (column) => column.notNull())
    .addColumn('category', 'text')
    .addColumn('body', 'text', (column) => column.notNull())
    .execute();

  await createTable(db, 'anomalies')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('at', 'integer', (column) => column.notNull())
    .addColumn('subject_kind', 'text', (column) => column.notNull())
    .addColumn('subject', 'text', (column) => column.notNull())
    .addColumn('metric', 'text', (column) => column.notNull())
    .addColumn('severity', 'text', (column) => column.notNull())
    .addColumn('facts', 'text', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('anomalies_at').on('anomalies').columns(['at', 'id']).execute();
  await db.schema.createIndex('anomalies_subject').on('anomalies').columns(['subject_kind', 'subject', 'at']).execute();

  await createTable(db, 'alerts')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('at', 'integer', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('severity', 'integer', (column) => column.notNull())
    /** Groups alerts: two alerts with the same subject within a short time are merged. */
    .addColumn('subject', 'text', (column) => column.notNull())
    .addColumn('domain', 'text')
    .addColumn('provider', 'text')
    .addColumn('title', 'text', (column) => column.notNull())
    .addColumn('detail', 'text', (column) => column.notNull())
    .addColumn('ref', 'text', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('alerts_at').on('alerts').columns(['at', 'severity', 'id']).execute();
  await db.schema.createIndex('alerts_subject').on('alerts').columns(['subject', 'at']).execute();

  // Identifies the database that an index snapshot belongs to.
  await (db as Kysely<Database>).insertInto('settings').values({ name: 'store-id', value: randomUUID() }).execute();
}
