// Subscribed feeds, their items, and the domains that the items name.
import { createTable } from '@strata/db';
import { type Kysely, sql } from 'kysely';

export async function feeds(db: Kysely<unknown>): Promise<void> {
  await createTable(db, 'feeds', { id: 'generated' })
    .addColumn('url', 'text', (column) => column.notNull().unique())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('merges_into', 'integer')
    .addColumn('etag', 'text')
    .addColumn('last_modified', 'text')
    .addColumn('next_poll_at', 'integer', (column) => column.notNull())
    .addColumn('failures', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('error', 'text')
    .addColumn('title', 'text')
    .addColumn('site_url', 'text')
    .addColumn('last_new_at', 'integer')
    .addColumn('read_at', 'integer')
    .addColumn('ttl_ms', 'integer')
    .addColumn('skip_hours', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('skip_days', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('added_at', 'integer', (column) => column.notNull())
    .addColumn('polled_at', 'integer')
    .addColumn('items', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('mentions', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  await db.schema.createIndex('feeds_due').on('feeds').columns(['status', 'next_poll_at', 'id']).execute();

  // Former addresses of feeds.
  await createTable(db, 'feed_moves', { id: 'generated' })
    .addColumn('url', 'text', (column) => column.notNull().unique())
    .addColumn('feed_id', 'integer', (column) => column.notNull().references('feeds.id'))
    .execute();
  await db.schema.createIndex('feed_moves_feed').on('feed_moves').columns(['feed_id', 'id']).execute();

  await createTable(db, 'feed_items', { id: 'generated' })
    .addColumn('feed_id', 'integer', (column) => column.notNull().references('feeds.id'))
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('url', 'text')
    .addColumn('title', 'text')
    .addColumn('published_at', 'integer')
    .addColumn('kept_at', 'integer', (column) => column.notNull())
    .addUniqueConstraint('feed_items_key', ['feed_id', 'key'])
    .execute();
  await db.schema.createIndex('feed_items_kept').on('feed_items').columns(['kept_at', 'id']).execute();

  await createTable(db, 'named_domains', { id: 'generated' })
    .addColumn('name', 'text', (column) => column.notNull().unique())
    .addColumn('mentions', 'integer', (column) => column.notNull())
    .addColumn('first_at', 'integer', (column) => column.notNull())
    .addColumn('last_at', 'integer', (column) => column.notNull())
    .addColumn('offered_at', 'integer')
    .execute();
  // Domains that were not offered to the scan yet.
  await db.schema
    .createIndex('named_domains_unoffered')
    .on('named_domains')
    .column('id')
    .where(sql.ref('offered_at'), 'is', null)
    .execute();

  await createTable(db, 'feed_mentions', { id: 'generated' })
    .addColumn('item_id', 'integer', (column) => column.notNull().references('feed_items.id'))
    // The item's feed; without a foreign key, which every removal of a feed would have to check.
    .addColumn('feed_id', 'integer', (column) => column.notNull())
    .addColumn('domain_id', 'integer', (column) => column.notNull().references('named_domains.id'))
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('at', 'integer', (column) => column.notNull())
    .addUniqueConstraint('feed_mentions_item', ['item_id', 'domain_id'])
    .execute();
  await db.schema.createIndex('feed_mentions_at').on('feed_mentions').columns(['at', 'id']).execute();
  await db.schema
    .createIndex('feed_mentions_domain')
    .on('feed_mentions')
    .columns(['domain_id', 'feed_id', 'at', 'id'])
    .execute();

  // Which feed names which domain: counted on write, since a popular domain has too many mentions to count on read.
  await createTable(db, 'feed_domains')
    .addColumn('domain_id', 'integer', (column) => column.notNull().references('named_domains.id'))
    .addColumn('feed_id', 'integer', (column) => column.notNull().references('feeds.id'))
    .addColumn('mentions', 'integer', (column) => column.notNull())
    .addColumn('last_at', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('feed_domains_key', ['domain_id', 'feed_id'])
    .execute();
  await db.schema
    .createIndex('feed_domains_mentions')
    .on('feed_domains')
    .columns(['domain_id', 'mentions', 'feed_id'])
    .execute();
  await db.schema.createIndex('feed_domains_feed').on('feed_domains').columns(['feed_id', 'domain_id']).execute();
}
