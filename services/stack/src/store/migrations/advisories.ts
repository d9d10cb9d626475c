// Migrations of advisories.
import { createTable } from '@strata/db';
import { type Kysely, sql } from 'kysely';

/** Versions of the products that domains show, and published vulnerabilities of products. */
export async function advisories(db: Kysely<unknown>): Promise<void> {
  // Shown in a header or page with the provider: `1.18.0`, and the platform, `ubuntu`.
  for (const column of ['version', 'platform'] as const) {
    await db.schema.alterTable('services').addColumn(column, 'text').execute();
  }

  await createTable(db, 'advisory_sources')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('cursor', 'text')
    .addColumn('started_at', 'integer')
    .addColumn('finished_at', 'integer')
    .addColumn('next_at', 'integer')
    .addColumn('error', 'text')
    .addColumn('failures', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('read', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('skipped', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('skipped_example', 'text')
    .addColumn('lease_owner', 'text')
    .addColumn('lease_until', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();

  // The parsed records of each source; `advisory_id` is the vulnerability that a record describes.
  await createTable(db, 'advisory_records')
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('record_id', 'text', (column) => column.notNull())
    .addColumn('advisory_id', 'text', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('advisory_records_key', ['source', 'record_id'])
    .execute();
  await db.schema
    .createIndex('advisory_records_advisory')
    .on('advisory_records')
    .columns(['advisory_id', 'source', 'record_id'])
    .execute();

  // The merged records of all sources.
  await createTable(db, 'advisories')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('body', 'text', (column) => column.notNull())
    .execute();
  await createTable(db, 'advisory_products')
    .addColumn('product_key', 'text', (column) => column.notNull())
    .addColumn('advisory_id', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('advisory_products_key', ['product_key', 'advisory_id'])
    .execute();
  await db.schema
    .createIndex('advisory_products_advisory')
    .on('advisory_products')
    .columns(['advisory_id', 'product_key'])
    .execute();
  await createTable(db, 'known_exploited')
    .addColumn('cve', 'text', (column) => column.primaryKey())
    .addColumn('body', 'text', (column) => column.notNull())
    .execute();
  await createTable(db, 'exploit_scores')
    .addColumn('cve', 'text', (column) => column.primaryKey())
    .addColumn('epss', 'real', (column) => column.notNull())
    .addColumn('percentile', 'real', (column) => column.notNull())
    .execute();

  // The order of changes to advisories and their exploitation; each advisory appears once.
  await createTable(db, 'advisory_changes', { id: 'generated', key: 'seq' })
    .addColumn('advisory_id', 'text', (column) => column.notNull().unique())
    .execute();
  // Subjects that were announced, to prevent duplicates.
  await createTable(db, 'advisory_tellings')
    .addColumn('subject', 'text', (column) => column.primaryKey())
    .addColumn('at', 'integer', (column) => column.notNull())
    .execute();
}

/** Counters of advisories, records by source and scores, which would otherwise be counted over all rows. */
export async function advisoryCounts(db: Kysely<unknown>): Promise<void> {
  await sql`insert into counters (name, value)
    select 'advisory-rows', count(*) from advisories having count(*) > 0
    union all select 'score-rows', count(*) from exploit_scores having count(*) > 0
    union all select 'record-rows ' || source, count(*) from advisory_records group by source`.execute(db);
}
