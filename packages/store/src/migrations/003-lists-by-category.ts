// The newest changes of one category: found by type alone, a category in which nobody moves would be looked for to the end.
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex('changes_type_category')
    .on('changes')
    .columns(['type', 'category', 'at', 'id'])
    .execute();
}
