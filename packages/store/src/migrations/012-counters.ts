// Counters that only grow: other processes detect changes that no log records by them; and the current term of the scheduler.
import type { Kysely } from 'kysely';
import { createTable } from './table.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  await createTable(db, 'counters')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('value', 'integer', (column) => column.notNull())
    .execute();
}
