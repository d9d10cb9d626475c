// The e-mail addresses of channels, and whether their owners agree.
import { createTable } from '@strata/db';
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  let table = createTable(db, 'watchlist_addresses');
  for (const name of ['key_id', 'address', 'mailbox', 'token', 'state'])
    table = table.addColumn(name, 'text', (column) => column.notNull());
  await table
    .addColumn('asked_at', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('watchlist_addresses_key', ['key_id', 'address'])
    .addUniqueConstraint('watchlist_addresses_token', ['token'])
    .execute();
  await db.schema.createIndex('watchlist_addresses_mailbox').on('watchlist_addresses').column('mailbox').execute();
}
