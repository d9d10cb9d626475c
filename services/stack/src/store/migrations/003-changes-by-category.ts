// An index for the newest changes of one category: without it, a category with few changes would require a scan of all changes.
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // The category comes first: an index by type would also be chosen for lists of all categories, which would then be sorted.
  await db.schema.createIndex('changes_category').on('changes').columns(['category', 'type', 'at', 'id']).execute();
}
