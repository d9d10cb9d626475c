// Migrations of the tables that the stores of several services have; each keeps the number under which it was released.
import type { Kysely } from 'kysely';
import { createTable } from './create-table.ts';

/** `api_keys` and `quota_usage`; the priority of a key follows with `addKeyPriority`. */
export async function createKeyTables(db: Kysely<unknown>): Promise<void> {
  await createTable(db, 'api_keys')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('tier', 'text', (column) => column.notNull())
    .addColumn('label', 'text')
    .addColumn('created_at', 'integer', (column) => column.notNull())
    .addColumn('revoked_at', 'integer')
    .addColumn('origin', 'text')
    .execute();
  await db.schema.createIndex('api_keys_origin').on('api_keys').columns(['origin', 'created_at']).execute();

  await createTable(db, 'quota_usage')
    .addColumn('key_id', 'text', (column) => column.notNull().references('api_keys.id'))
    .addColumn('day', 'text', (column) => column.notNull())
    .addColumn('used', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('quota_usage_key', ['key_id', 'day'])
    .execute();
}

/** The priority of a key when capacity is scarce. */
export async function addKeyPriority(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('api_keys')
    .addColumn('priority', 'text', (column) => column.notNull().defaultTo('normal'))
    .execute();
}

/** Single texts by name, shared by the processes of a store. */
export async function createSettings(db: Kysely<unknown>): Promise<void> {
  await createTable(db, 'settings')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('value', 'text', (column) => column.notNull())
    .execute();
}

/** Counters that only grow: other processes detect changes that no log records by them; and the current terms. */
export async function createCounters(db: Kysely<unknown>): Promise<void> {
  await createTable(db, 'counters')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('value', 'integer', (column) => column.notNull())
    .execute();
}
