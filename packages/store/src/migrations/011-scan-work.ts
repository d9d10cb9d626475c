// Scan work that many processes share.
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('domains')
    .addColumn('revision', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
}
