// Feeds that leave: nobody subscribes to them any more, or they turned out to be another one, which gets their items. It is marked in
// one transaction, from which on nothing is added, and done in bites. A kill leaves the mark: the next start goes on with it.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type CompiledQuery, type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import { bumping } from '../../db/counters.ts';
import { integer, jsonRows, listed } from '../../db/statements/json-rows.ts';
import { together } from '../../db/statements/together.ts';
import { writeTogether, writeTransaction } from '../../db/transactions/write-transaction.ts';
import type { Database } from '../../schema.ts';
import { onKnownPair, PAIRS } from './add-items.ts';
import { addCounts, bumpEpoch, dropItems, someItems, takeFromPairs } from './drop-items.ts';

type FeedRow = Selectable<Database['feeds']>;

/** Old addresses that are remembered of a feed: one that moves with each poll has only its last. */
const MAX_MOVES = 20;

/** Drops a feed with all that came from it. What it said counts no more from the first moment on. */
export async function removeFeed(db: Kysely<Database>, feedId: number): Promise<void> {
  await writeTogether(db, [...markLeaving(db, feedId, null), ...bumpEpoch(db)]);
  await finishLeaving(db, feedId);
}

/** Queries after which nothing is added to the feed; who calls `finishLeaving` then gives its items to `into`, or drops them. */
export const markLeaving = (db: Kysely<Database>, feedId: number, into: number | null): readonly CompiledQuery[] => [
  db.updateTable('feeds').set({ status: 'leaving', merges_into: into }).where('id', '=', feedId).compile(),
  bumping(db, 'feeds'),
];

/** Goes on with every feed that leaves. */
export async function finishAllLeaving(db: Kysely<Database>): Promise<void> {
  const feeds = await db.selectFrom('feeds').where('status', '=', 'leaving').select('id').execute();
  for (const { id } of feeds) await finishLeaving(db, id);
}

export async function finishLeaving(db: Kysely<Database>, feedId: number): Promise<void> {
  while (await writeTransaction(db, (tx) => leaveABite(tx, feedId))) await nextTurn();
}

/** Returns whether there may be more to do. */
async function leaveABite(tx: Transaction<Database>, feedId: number): Promise<boolean> {
  const feed = await tx
    .selectFrom('feeds')
    .where('id', '=', feedId)
    .where('status', '=', 'leaving')
    .selectAll()
    .executeTakeFirst();
  if (!feed) return false;
  const into = await heirOf(tx, feed);
  const ids = await someItems(tx, feedId);
  if (ids.length === 0) await dropFeed(tx, feed, into);
  else if (into === null) await dropItems(tx, ids);
  else await moveItems(tx, ids, { from: feedId, into });
  return ids.length > 0;
}

/** The feed that gets the items; null: none. One that leaves itself hands on to its own. No feed merges into one that leaves. */
async function heirOf(tx: Transaction<Database>, feed: FeedRow): Promise<number | null> {
  let into = feed.merges_into;
  while (into !== null) {
    const heir = await tx
      .selectFrom('feeds')
      .where('id', '=', into)
      .select(['status', 'merges_into'])
      .executeTakeFirst();
    if (heir?.status !== 'leaving') return heir ? into : null;
    into = heir.merges_into;
  }
  return null;
}

/** Its address, and those that it had, lead to the feed that has its items now. */
async function dropFeed(tx: Transaction<Database>, feed: FeedRow, into: number | null): Promise<void> {
  const { id } = feed;
  await tx
    .updateTable('feeds')
    .set({ merges_into: into })
    .where('status', '=', 'leaving')
    .where('merges_into', '=', id)
    .execute();
  if (into === null) await tx.deleteFrom('feed_moves').where('feed_id', '=', id).execute();
  else await tx.updateTable('feed_moves').set({ feed_id: into }).where('feed_id', '=', id).execute();
  await tx.deleteFrom('feeds').where('id', '=', id).execute();
  if (into !== null) await together(tx, [...rememberMove(tx, feed.url, into), ...bumpEpoch(tx)]);
}

/** Queries that note that a feed had this address before. */
export const rememberMove = (tx: Transaction<Database>, url: string, feedId: number): readonly CompiledQuery[] => [
  tx
    .insertInto('feed_moves')
    .values({ url, feed_id: feedId })
    .onConflict((conflict) => conflict.column('url').doUpdateSet({ feed_id: feedId }))
    .compile(),
  sql<never>`
    delete from feed_moves where feed_id = ${feedId}
      and id not in (select id from feed_moves where feed_id = ${feedId} order by id desc limit ${MAX_MOVES})`.compile(
    tx,
  ),
];

/** Gives items to another feed, but for those that it has itself. */
async function moveItems(
  tx: Transaction<Database>,
  ids: readonly number[],
  { from, into }: { readonly from: number; readonly into: number },
): Promise<void> {
  const shared = await tx
    .selectFrom('feed_items as mine')
    .innerJoin('feed_items as theirs', (join) =>
      join.onRef('theirs.key', '=', 'mine.key').on('theirs.feed_id', '=', into),
    )
    .where('mine.id', 'in', listed(tx, ids))
    .select('mine.id')
    .execute();
  const dropped = new Set(shared.map(({ id }) => id));
  await dropItems(tx, [...dropped]);
  const moved = ids.filter((id) => !dropped.has(id));
  const pairs = await tx
    .selectFrom('feed_mentions')
    .where('item_id', 'in', listed(tx, moved))
    .groupBy('domain_id')
    .select(['domain_id', sql<number>`count(*)`.as('mentions'), sql<number>`max(at)`.as('last_at')])
    .execute();
  const rows = pairs.map(({ domain_id, mentions, last_at }) => [domain_id, mentions, last_at]);
  const mentions = pairs.reduce((sum, pair) => sum + pair.mentions, 0);
  await together(tx, [
    tx.updateTable('feed_mentions').set({ feed_id: into }).where('item_id', 'in', listed(tx, moved)).compile(),
    tx.updateTable('feed_items').set({ feed_id: into }).where('id', 'in', listed(tx, moved)).compile(),
    ...takeFromPairs(
      tx,
      pairs.map((pair) => ({ ...pair, feed_id: from })),
    ),
    sql<never>`
      insert into feed_domains (domain_id, feed_id, mentions, last_at)
      select domain_id, ${integer(into)}, mentions, last_at from ${jsonRows(tx, rows, PAIRS)} as new where true
      ${onKnownPair}`.compile(tx),
    addCounts(tx, [
      [from, -moved.length, -mentions],
      [into, moved.length, mentions],
    ]),
  ]);
}
