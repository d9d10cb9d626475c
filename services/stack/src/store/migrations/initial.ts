// The first schema. SQLite tables are STRICT, so that SQLite checks column types as PostgreSQL does.
import { createKeyTables, createSettings, createTable, type TableOptions } from '@strata/db';
import { type Kysely, sql } from 'kysely';

export async function initial(db: Kysely<unknown>): Promise<void> {
  const table = (name: string, options?: TableOptions) => createTable(db, name, options);
  const timeColumn = 'integer';

  await table('domains', { id: 'generated' })
    .addColumn('name', 'text', (column) => column.notNull().unique())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('created_at', timeColumn, (column) => column.notNull())
    .addColumn('next_due_at', timeColumn, (column) => column.notNull())
    .addColumn('failures', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('last_scanned_at', timeColumn)
    .addColumn('state', 'text')
    .addColumn('sector', 'text', (column) => column.notNull().defaultTo('unknown'))
    .addColumn('rulebook', 'text')
    .addColumn('summary', 'text')
    .addColumn('measured', 'text', (column) => column.notNull().defaultTo(''))
    .execute();
  await db.schema.createIndex('domains_due').on('domains').columns(['next_due_at', 'id']).execute();

  await table('services', { id: 'generated' })
    .addColumn('domain_id', 'integer', (column) => column.notNull().references('domains.id'))
    .addColumn('category', 'text', (column) => column.notNull())
    .addColumn('role', 'text', (column) => column.notNull())
    .addColumn('provider', 'text', (column) => column.notNull())
    .addColumn('confidence', 'text', (column) => column.notNull())
    .addColumn('score', 'real', (column) => column.notNull())
    .addColumn('evidence', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('valid_from', timeColumn, (column) => column.notNull())
    .addColumn('valid_to', timeColumn)
    .addColumn('last_seen', timeColumn)
    .addColumn('first_missed', timeColumn)
    .execute();
  // Finds the open intervals of a domain, and prevents two open intervals of a provider in a category.
  await db.schema
    .createIndex('services_open')
    .unique()
    .on('services')
    .columns(['domain_id', 'category', 'provider'])
    .where(sql.ref('valid_to'), 'is', null)
    .execute();

  await table('scans', { id: 'generated' })
    .addColumn('domain_id', 'integer', (column) => column.notNull().references('domains.id'))
    .addColumn('started_at', timeColumn, (column) => column.notNull())
    .addColumn('finished_at', timeColumn, (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('rulebook', 'text', (column) => column.notNull())
    .addColumn('services', 'integer', (column) => column.notNull())
    .addColumn('unmeasured', 'text', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('scans_domain').on('scans').columns(['domain_id', 'started_at']).execute();

  await table('changes', { id: 'generated' })
    .addColumn('domain_id', 'integer', (column) => column.notNull().references('domains.id'))
    .addColumn('scan_id', 'integer', (column) => column.notNull().references('scans.id'))
    .addColumn('at', timeColumn, (column) => column.notNull())
    .addColumn('confirmed_at', timeColumn, (column) => column.notNull())
    .addColumn('category', 'text', (column) => column.notNull())
    .addColumn('role', 'text', (column) => column.notNull())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('from_provider', 'text')
    .addColumn('to_provider', 'text')
    .addColumn('confidence', 'text', (column) => column.notNull())
    .addColumn('importance', 'text', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('changes_domain').on('changes').columns(['domain_id', 'at', 'id']).execute();

  await table('events', { id: 'generated', key: 'seq' })
    .addColumn('at', timeColumn, (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('domain', 'text', (column) => column.notNull())
    .addColumn('payload', 'text', (column) => column.notNull())
    .execute();

  await table('evidence')
    .addColumn('domain_id', 'integer', (column) => column.primaryKey().references('domains.id'))
    .addColumn('observed_at', timeColumn, (column) => column.notNull())
    .addColumn('body', 'blob', (column) => column.notNull())
    .execute();

  await createKeyTables(db);
  await createSettings(db);
}
