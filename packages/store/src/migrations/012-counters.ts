// Numbers that only grow: who follows the store sees by them that something has changed which no log of its own tells, and whose
// term it is among schedulers.
import type { Kysely } from 'kysely';
import { createTable } from './table.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  await createTable(db, 'counters')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('value', 'integer', (column) => column.notNull())
    .execute();
}
