// Migrations of watchlists.
import { createTable } from '@strata/db';
import { type Kysely, sql } from 'kysely';

/** Watchlists: their domains, what their rules reported, and the messages that carry it. */
export async function watchlists(db: Kysely<unknown>): Promise<void> {
  await createTable(db, 'watchlists')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('key_id', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('rules', 'text', (column) => column.notNull())
    .addColumn('channels', 'text', (column) => column.notNull())
    .addColumn('feed_token', 'text', (column) => column.notNull())
    .addColumn('domain_count', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'integer', (column) => column.notNull())
    .addColumn('updated_at', 'integer', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('watchlists_by_key').on('watchlists').columns(['key_id', 'created_at', 'id']).execute();

  await createTable(db, 'watchlist_domains')
    .addColumn('watchlist_id', 'text', (column) => column.notNull())
    .addColumn('domain', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('watchlist_domains_key', ['watchlist_id', 'domain'])
    .execute();
  await db.schema
    .createIndex('watchlists_by_domain')
    .on('watchlist_domains')
    .columns(['domain', 'watchlist_id'])
    .execute();

  await createTable(db, 'watchlist_notifications', { id: 'generated' })
    .addColumn('watchlist_id', 'text', (column) => column.notNull())
    .addColumn('rule', 'text', (column) => column.notNull())
    .addColumn('event', 'text', (column) => column.notNull())
    .addColumn('created_at', 'integer', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('watchlist_notifications_once')
    .on('watchlist_notifications')
    .columns(['watchlist_id', 'rule', 'event'])
    .unique()
    .execute();
  await db.schema
    .createIndex('watchlist_notifications_by_list')
    .on('watchlist_notifications')
    .columns(['watchlist_id', 'id'])
    .execute();

  await createTable(db, 'watchlist_deliveries', { id: 'generated' })
    .addColumn('message_id', 'text', (column) => column.notNull().unique())
    .addColumn('watchlist_id', 'text', (column) => column.notNull())
    .addColumn('channel', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('first_notification', 'integer', (column) => column.notNull())
    .addColumn('last_notification', 'integer', (column) => column.notNull())
    .addColumn('notifications', 'integer', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('due_at', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'integer', (column) => column.notNull())
    .addColumn('finished_at', 'integer')
    .addColumn('status', 'integer')
    .addColumn('error', 'text')
    .execute();
  await db.schema
    .createIndex('watchlist_deliveries_by_list')
    .on('watchlist_deliveries')
    .columns(['watchlist_id', 'id'])
    .execute();
  await sql`create index watchlist_deliveries_due on watchlist_deliveries (due_at) where state = 'pending'`.execute(db);
}

/**
 * The receiver of each message, the e-mail addresses of channels with the decisions of their owners, and lists that
 * follow a query.
 */
export async function watchlistChannels(db: Kysely<unknown>): Promise<void> {
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
