// Subscribed feeds, their items, and the domains that the items name.
import type { Kysely } from 'kysely';

export async function up(_db: Kysely<unknown>): Promise<void> {}
