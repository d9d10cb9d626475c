// Whose answers come first where there are more than places.
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('api_keys')
    .addColumn('priority', 'text', (column) => column.notNull().defaultTo('normal'))
    .execute();
}
