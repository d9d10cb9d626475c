// What leaves: items that grew old, feeds that nobody subscribes to, and a feed that turned out to be another one.
import { type Kysely, sql, type Transaction } from 'kysely';
import type { Database } from './schema.ts';

/** Items dropped by one statement. */
const ITEMS_AT_ONCE = 500;
/** Name of the setting that counts removals: who keeps counts of mentions in memory counts anew when it differs. */
const EPOCH = 'feed-mentions-epoch';

/** How often mentions were taken away that are young enough to be counted. */
export async function mentionsEpoch(db: Kysely<Database>): Promise<number> {
  const row = await db.selectFrom('settings').where('name', '=', EPOCH).select('value').executeTakeFirst();
  return Number(row?.value ?? 0);
}

async function bumpEpoch(tx: Transaction<Database>): Promise<void> {
  const value = String((await mentionsEpoch(tx)) + 1);
  await tx
    .insertInto('settings')
    .values({ name: EPOCH, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();
}

/** Drops at most so many items that are older, with what they named; returns how many. */
export async function forgetItems(db: Kysely<Database>, before: number, limit: number): Promise<number> {
  return db.transaction().execute(async (tx) => {
    const rows = await tx
      .selectFrom('feed_items')
      .where('kept_at', '<', before)
      .orderBy('kept_at')
      .orderBy('id')
      .limit(Math.min(limit, ITEMS_AT_ONCE))
      .select('id')
      .execute();
    await dropItems(
      tx,
      rows.map(({ id }) => id),
    );
    return rows.length;
  });
}

/**
 * Drops a feed with all that came from it, in bites, so that other processes have their turn. A kill in between leaves a feed
 * that is not polled any more and has less; the same call goes on with it.
 */
export async function removeFeed(db: Kysely<Database>, feedId: number): Promise<void> {
  await db.updateTable('feeds').set({ status: 'gone' }).where('id', '=', feedId).execute();
  while ((await db.transaction().execute((tx) => dropSomeItems(tx, feedId))) > 0);
  await db.transaction().execute(async (tx) => {
    // What a poll that was under way has added since.
    while ((await dropSomeItems(tx, feedId)) > 0);
    await tx.deleteFrom('feeds').where('id', '=', feedId).execute();
    await bumpEpoch(tx);
  });
}

/** Gives a feed's items to another one, but for those that it has itself, and drops the feed. */
export async function mergeFeed(
  tx: Transaction<Database>,
  { from, into }: { readonly from: number; readonly into: number },
): Promise<void> {
  const shared = await tx
    .selectFrom('feed_items as mine')
    .innerJoin('feed_items as theirs', (join) =>
      join.onRef('theirs.key', '=', 'mine.key').on('theirs.feed_id', '=', into),
    )
    .where('mine.feed_id', '=', from)
    .select('mine.id')
    .execute();
  for (let at = 0; at < shared.length; at += ITEMS_AT_ONCE)
    await dropItems(
      tx,
      shared.slice(at, at + ITEMS_AT_ONCE).map(({ id }) => id),
    );

  const pairs = await tx.selectFrom('feed_domains').where('feed_id', '=', from).selectAll().execute();
  for (const { domain_id, mentions, last_at } of pairs) {
    await tx
      .insertInto('feed_domains')
      .values({ domain_id, feed_id: into, mentions, last_at })
      .onConflict((conflict) =>
        conflict.columns(['domain_id', 'feed_id']).doUpdateSet((eb) => ({
          mentions: eb('feed_domains.mentions', '+', mentions),
          last_at: eb
            .case()
            .when('feed_domains.last_at', '>', last_at)
            .then(eb.ref('feed_domains.last_at'))
            .else(last_at)
            .end(),
        })),
      )
      .execute();
  }
  await tx.deleteFrom('feed_domains').where('feed_id', '=', from).execute();
  await tx
    .updateTable('feed_mentions')
    .set({ feed_id: into })
    .where('item_id', 'in', (eb) => eb.selectFrom('feed_items').where('feed_id', '=', from).select('id'))
    .execute();
  await tx.updateTable('feed_items').set({ feed_id: into }).where('feed_id', '=', from).execute();
  const left = await tx
    .selectFrom('feeds')
    .where('id', '=', from)
    .select(['items', 'mentions'])
    .executeTakeFirstOrThrow();
  await addCounts(tx, into, left);
  await tx.deleteFrom('feeds').where('id', '=', from).execute();
  await bumpEpoch(tx);
}

async function dropSomeItems(tx: Transaction<Database>, feedId: number): Promise<number> {
  const rows = await tx
    .selectFrom('feed_items')
    .where('feed_id', '=', feedId)
    .limit(ITEMS_AT_ONCE)
    .select('id')
    .execute();
  await dropItems(
    tx,
    rows.map(({ id }) => id),
  );
  return rows.length;
}

/** Takes items and what they named out of the tables and out of every count. */
async function dropItems(tx: Transaction<Database>, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  const pairs = await tx
    .selectFrom('feed_mentions')
    .where('item_id', 'in', ids)
    .groupBy(['domain_id', 'feed_id'])
    .select(['domain_id', 'feed_id', sql<number>`count(*)`.as('mentions')])
    .execute();
  const feeds = await tx
    .selectFrom('feed_items')
    .where('id', 'in', ids)
    .groupBy('feed_id')
    .select(['feed_id', sql<number>`count(*)`.as('items')])
    .execute();
  await tx.deleteFrom('feed_mentions').where('item_id', 'in', ids).execute();
  await tx.deleteFrom('feed_items').where('id', 'in', ids).execute();
  for (const { feed_id, items } of feeds) {
    const mentions = pairs.filter((pair) => pair.feed_id === feed_id).reduce((sum, pair) => sum + pair.mentions, 0);
    await addCounts(tx, feed_id, { items: -items, mentions: -mentions });
  }
  for (const pair of pairs) await dropMentions(tx, pair);
}

async function addCounts(
  tx: Transaction<Database>,
  feedId: number,
  more: { readonly items: number; readonly mentions: number },
): Promise<void> {
  await tx
    .updateTable('feeds')
    .set((eb) => ({ items: eb('items', '+', more.items), mentions: eb('mentions', '+', more.mentions) }))
    .where('id', '=', feedId)
    .execute();
}

/** What nobody names any more is forgotten. */
async function dropMentions(
  tx: Transaction<Database>,
  { domain_id, feed_id, mentions }: { domain_id: number; feed_id: number; mentions: number },
): Promise<void> {
  await tx
    .updateTable('feed_domains')
    .set((eb) => ({ mentions: eb('mentions', '-', mentions) }))
    .where('domain_id', '=', domain_id)
    .where('feed_id', '=', feed_id)
    .execute();
  await tx
    .deleteFrom('feed_domains')
    .where('domain_id', '=', domain_id)
    .where('feed_id', '=', feed_id)
    .where('mentions', '<=', 0)
    .execute();
  await tx
    .updateTable('named_domains')
    .set((eb) => ({ mentions: eb('mentions', '-', mentions) }))
    .where('id', '=', domain_id)
    .execute();
  await tx.deleteFrom('named_domains').where('id', '=', domain_id).where('mentions', '<=', 0).execute();
}
