// The receiver of each message, the e-mail addresses of channels with the decisions of their owners, and lists that follow a query.
import { createTable } from '@strata/db';
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  const receiver = db.schema.alterTable('watchlist_deliveries').addColumn('receiver', 'text', (column) => {
    return column.notNull().defaultTo('');
  });
  await receiver.execute();
  await db.schema.dropIndex('watchlist_deliveries_due').execute();
  // All that the selection of due messages compares: those of busy receivers are skipped within the index.
  const columns = sql`(due_at, id, receiver, watchlist_id)`;
  await sql`create index watchlist_deliveries_due on watchlist_deliveries ${columns} where state = 'pending'`.execute(
    db,
  );

  let table = createTable(db, 'watchlist_addresses');
  for (const name of ['key_id', 'address', 'mailbox', 'token', 'state'])
    table = table.addColumn(name, 'text', (column) => column.notNull());
  await table
    .addColumn('asked_at', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('watchlist_addresses_key', ['key_id', 'address'])
    .addUniqueConstraint('watchlist_addresses_token', ['token'])
    .execute();
  await db.schema.createIndex('watchlist_addresses_mailbox').on('watchlist_addresses').column('mailbox').execute();

  await db.schema.alterTable('watchlists').addColumn('query', 'text').execute();
  await db.schema.alterTable('watchlists').addColumn('evaluated_at', 'integer').execute();
}
