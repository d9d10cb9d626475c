// Observed records: an interval for each time a value was published, by domain, and by value for pivots.

import { createTable } from '@strata/db';
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
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
