// The priority of a key when capacity is scarce.
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('api_keys')
    .addColumn('priority', 'text', (column) => column.notNull().defaultTo('normal'))
    .execute();
}
