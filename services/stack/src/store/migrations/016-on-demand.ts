// Domains that a request added: an index in the order in which they are forgotten, and daily counts of names below private suffixes.

import { createTable } from '@strata/db';
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index domains_on_demand on domains ((coalesce(asked_at, created_at)))
    where source = 'on-demand' and last_scanned_at is not null`.execute(db);
  await createTable(db, 'on_demand_days')
    .addColumn('day', 'integer', (column) => column.notNull())
    .addColumn('subject', 'text', (column) => column.notNull())
    .addColumn('names', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('on_demand_days_key', ['day', 'subject'])
    .execute();
}
