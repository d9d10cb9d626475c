// Migrations of the table of domains and of what is scanned.
import { createTable } from '@strata/db';
import { type Kysely, sql } from 'kysely';

/** Scan work shared by several processes: scan leases, the revision of a domain, and the columns of the schedule. */
export async function scanWork(db: Kysely<unknown>): Promise<void> {
  for (const [name, type] of [
    ['revision', 'integer'],
    ['is_waiting', 'integer'],
    ['tracked_ms', 'integer'],
    ['changes_seen', 'real'],
  ] as const) {
    await db.schema
      .alterTable('domains')
      .addColumn(name, type, (column) => column.notNull().defaultTo(0))
      .execute();
  }
  await db.schema.alterTable('domains').addColumn('asked_at', 'integer').execute();
  // Few domains, which are scanned first.
  await db.schema
    .createIndex('domains_waiting')
    .on('domains')
    .columns(['next_due_at', 'id'])
    .where(sql.ref('is_waiting'), '=', sql.lit(1))
    .execute();
  // A separate table: a lease is written and deleted with each scan, and rows of domains are long.
  await createTable(db, 'scan_leases')
    .addColumn('domain_id', 'integer', (column) => column.primaryKey().references('domains.id'))
    .addColumn('holder', 'text', (column) => column.notNull())
    .addColumn('until', 'integer', (column) => column.notNull())
    .execute();
}

/**
 * Domains that a request added: an index in the order in which they are forgotten, and daily counts of names below
 * private suffixes.
 */
export async function onDemand(db: Kysely<unknown>): Promise<void> {
  await sql`create index domains_on_demand on domains ((coalesce(asked_at, created_at)))
    where source = 'on-demand' and last_scanned_at is not null`.execute(db);
  await createTable(db, 'on_demand_days')
    .addColumn('day', 'integer', (column) => column.notNull())
    .addColumn('subject', 'text', (column) => column.notNull())
    .addColumn('names', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('on_demand_days_key', ['day', 'subject'])
    .execute();
}

/**
 * When each domain was first measured, and when its last change was confirmed. Of a domain whose first scans were
 * deleted, the first kept scan or service counts.
 */
export async function domainTimes(db: Kysely<unknown>): Promise<void> {
  for (const column of ['first_scanned_at', 'changed_at'])
    await db.schema.alterTable('domains').addColumn(column, 'integer').execute();
  await sql`update domains set first_scanned_at = coalesce((
      select observed_at from scans where scans.domain_id = domains.id and scans.state <> 'unmeasured'
      order by started_at limit 1
    ), last_scanned_at) where last_scanned_at is not null`.execute(db);
  await sql`update domains set first_scanned_at = began.at
    from (select domain_id, min(valid_from) as at from services group by domain_id) as began
    where began.domain_id = domains.id and began.at < domains.first_scanned_at`.execute(db);
  await sql`update domains set changed_at = changed.at
    from (select domain_id, max(confirmed_at) as at from changes where type <> 'reclassified' group by domain_id) as changed
    where changed.domain_id = domains.id and domains.last_scanned_at is not null`.execute(db);
}

/** The country that the registry gives for the network of a domain's address; known from the next scan on. */
export async function networkCountry(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('domains').addColumn('country', 'text').execute();
}

/**
 * Leases as columns of the domain, so that leased domains leave the indexes of due ones. Leases of other processes end: they
 * have stopped for the migration.
 */
export async function domainLeases(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('domains').addColumn('leased_until', 'integer').execute();
  await db.schema.alterTable('domains').addColumn('leased_by', 'text').execute();
  await db.schema.dropTable('scan_leases').execute();
  for (const index of ['domains_due', 'domains_waiting']) await db.schema.dropIndex(index).execute();
  await sql`create index domains_due on domains (next_due_at, id) where leased_until is null`.execute(db);
  await sql`create index domains_waiting on domains (next_due_at, id)
    where leased_until is null and is_waiting = 1`.execute(db);
  await sql`create index domains_leased on domains (leased_until) where leased_until is not null`.execute(db);
}
