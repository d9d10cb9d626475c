// The migration that creates the tables of a shared ledger: its head, leaves, the subtrees above them, and the keys that sign
// receipts. On SQLite the tables exist and stay empty: there the ledger is in a file of its own.

import { createTable } from '@strata/db';
import type { Kysely } from 'kysely';

/** Released as `013-ledger` of the stack service, and in `021-gateways` of the gateway: never changed. */
export async function createLedgerTables(db: Kysely<unknown>): Promise<void> {
  await createTable(db, 'ledger_head')
    // One row: the leaves belong to one log.
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('origin', 'text', (column) => column.notNull())
    .addColumn('size', 'integer', (column) => column.notNull())
    .addColumn('root', 'blob', (column) => column.notNull())
    .addColumn('edge', 'blob', (column) => column.notNull())
    .addColumn('note', 'text', (column) => column.notNull())
    .execute();

  await createTable(db, 'ledger_leaves')
    .addColumn('leaf_index', 'integer', (column) => column.primaryKey())
    .addColumn('hash', 'blob', (column) => column.notNull())
    .addColumn('leaf', 'blob', (column) => column.notNull())
    .execute();
  // Not unique: a log may contain a leaf twice.
  await db.schema.createIndex('ledger_leaves_by_hash').on('ledger_leaves').column('hash').execute();

  await createTable(db, 'ledger_subtrees')
    .addColumn('level', 'integer', (column) => column.notNull())
    .addColumn('subtree_index', 'integer', (column) => column.notNull())
    .addColumn('hash', 'blob', (column) => column.notNull())
    .addPrimaryKeyConstraint('ledger_subtrees_key', ['level', 'subtree_index'])
    .execute();

  await createTable(db, 'ledger_keys')
    .addColumn('kid', 'text', (column) => column.primaryKey())
    .addColumn('key', 'text', (column) => column.notNull())
    .execute();
}
