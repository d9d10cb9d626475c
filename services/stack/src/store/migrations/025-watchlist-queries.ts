// Watchlists that follow a query.
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('watchlists').addColumn('query', 'text').execute();
  await db.schema.alterTable('watchlists').addColumn('evaluated_at', 'integer').execute();
}
