// Migrations of observed records.
import { createTable } from '@strata/db';
import { type Kysely, sql } from 'kysely';

/** Observed records: an interval for each time a value was published, by domain, and by value for pivots. */
export async function records(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('domains').addColumn('record_digest', 'text').execute();
  await createTable(db, 'records', { isClustered: true })
    .addColumn('domain_id', 'integer', (column) => column.notNull().references('domains.id'))
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('value', 'text', (column) => column.notNull())
    .addColumn('first_seen', 'integer', (column) => column.notNull())
    .addColumn('last_seen', 'integer')
    .addColumn('ended_at', 'integer')
    .addPrimaryKeyConstraint('records_key', ['domain_id', 'kind', 'value', 'first_seen'])
    .execute();
  await db.schema
    .createIndex('records_value')
    .on('records')
    .columns(['kind', 'value', 'ended_at', 'domain_id'])
    .execute();
}

/** Scans until now did not measure favicons: what the next one finds is not a change. */
export async function favicons(db: Kysely<unknown>): Promise<void> {
  await sql`insert into records (domain_id, kind, value, first_seen)
    select id, 'favicon', '', last_scanned_at from domains
    where record_digest is not null and last_scanned_at is not null`.execute(db);
}
