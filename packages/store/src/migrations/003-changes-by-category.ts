// The newest changes of one category: found by type alone, a category in which nobody moves would be looked for to the end.
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // The category first: beginning with the type, it would be taken for lists of all categories too, and these then sorted.
  await db.schema.createIndex('changes_category').on('changes').columns(['category', 'type', 'at', 'id']).execute();
}
