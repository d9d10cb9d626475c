// Indexes for changes of a window, newest first: windows use the confirmation time, which the indexes by `at` do not contain.
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [name, first] of [
    ['changes_confirmed', ['type']],
    ['changes_category_confirmed', ['category', 'type']],
    ['changes_from_confirmed', ['from_provider', 'type']],
    ['changes_to_confirmed', ['to_provider', 'type']],
    // Domains gained or lost by a provider: few of its changes, of several types.
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
