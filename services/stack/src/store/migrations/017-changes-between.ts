// Indexes for changes between two providers, and of one provider in one category: without them a list reads all changes of the provider.
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [name, first] of [
    // Both providers are given, so one column order serves both directions.
    ['changes_between', ['to_provider', 'from_provider']],
    ['changes_between_category', ['to_provider', 'from_provider', 'category']],
    ['changes_from_category', ['from_provider', 'category']],
    ['changes_to_category', ['to_provider', 'category']],
  ] as const) {
    await db.schema
      .createIndex(name)
      .on('changes')
      .columns([...first, 'type', 'at', 'id'])
      .execute();
  }
}
