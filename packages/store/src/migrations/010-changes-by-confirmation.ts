// Changes of a window, newest first: windows go by when a change was confirmed, which the indexes by `at` cannot find.
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [name, first] of [
    ['changes_confirmed', ['type']],
    ['changes_category_confirmed', ['category', 'type']],
    ['changes_from_confirmed', ['from_provider', 'type']],
    ['changes_to_confirmed', ['to_provider', 'type']],
    // Who came to a provider or left it: few of its changes, of several types.
    ['changes_exits', ['from_provider', 'is_exit']],
    ['changes_entries', ['to_provider', 'is_entry']],
  ] as const) {
    await db.schema
      .createIndex(name)
      .on('changes')
      .columns([...first, 'confirmed_at', 'id'])
      .execute();
  }
}
