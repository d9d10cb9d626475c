// Changes of a window, newest first: windows go by when a change was confirmed, which the indexes by `at` cannot find.
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [name, first] of [
    ['changes_confirmed', []],
    ['changes_category_confirmed', ['category']],
    ['changes_from_confirmed', ['from_provider']],
    ['changes_to_confirmed', ['to_provider']],
  ] as const) {
    await db.schema
      .createIndex(name)
      .on('changes')
      .columns([...first, 'type', 'confirmed_at', 'id'])
      .execute();
  }
}
