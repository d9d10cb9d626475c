// Removes feeds: subscriptions that ended, and feeds that turned out to be another one, into which their items are merged. A feed
// is marked `leaving` in one transaction, after which nothing is added to it, and emptied in batches. After a kill the mark
// remains, and the next start continues.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import {
  counterIncrement,
  executePipelined,
  integer,
  jsonRows,
  listed,
  writePipelined,
  writeTransaction,
} from '@strata/db';
import { type CompiledQuery, type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import type { Database } from '../schema.ts';
import { onKnownPair, PAIRS } from './add-items.ts';
import { addCounts, dropItems, incrementEpoch, itemBatch, subtractFromPairs } from './drop-items.ts';

type FeedRow = Selectable<Database['feeds']>;

/** Maximum of former addresses stored for a feed. */
const MAX_MOVES = 20;

/** Removes a feed with everything from it. Its mentions are not counted from the first transaction on. */
export async function removeFeed(db: Kysely<Database>, feedId: number): Promise<void> {
  await writePipelined(db, [...markLeaving(db, feedId, null), ...incrementEpoch(db)]);
  await finishLeaving(db, feedId);
}

/** Queries that stop additions to the feed; `finishLeaving` then moves its items to `into`, or deletes them if it is null. */
export const markLeaving = (db: Kysely<Database>, feedId: number, into: number | null): readonly CompiledQuery[] => [
  db.updateTable('feeds').set({ status: 'leaving', merges_into: into }).where('id', '=', feedId).compile(),
  counterIncrement(db, 'feeds'),
];

/** Continues all removals and mergers. */
export async function finishAllLeaving(db: Kysely<Database>): Promise<void> {
  const feeds = await db.selectFrom('feeds').where('status', '=', 'leaving').select('id').execute();
  for (const { id } of feeds) await finishLeaving(db, id);
}

export async function finishLeaving(db: Kysely<Database>, feedId: number): Promise<void> {
  while (await writeTransaction(db, (tx) => removeBatch(tx, feedId))) await yieldToEventLoop();
}

/** Returns whether to continue. */
async function removeBatch(tx: Transaction<Database>, feedId: number): Promise<boolean> {
  const feed = await tx
    .selectFrom('feeds')
    .where('id', '=', feedId)
    .where('status', '=', 'leaving')
    .selectAll()
    .executeTakeFirst();
  if (!feed) return false;
  const into = await mergeTarget(tx, feed);
  const ids = await itemBatch(tx, feedId);
  if (ids.length === 0) await dropFeed(tx, feed, into);
  else if (into === null) await dropItems(tx, ids);
  else await moveItems(tx, ids, { from: feedId, into });
  return ids.length > 0;
}

/** The feed to merge into, or null. If that is leaving as well, its own target is used. */
async function mergeTarget(tx: Transaction<Database>, feed: FeedRow): Promise<number | null> {
  let into = feed.merges_into;
  while (into !== null) {
    const target = await tx
      .selectFrom('feeds')
      .where('id', '=', into)
      .select(['status', 'merges_into'])
      .executeTakeFirst();
    if (target?.status !== 'leaving') return target ? into : null;
    into = target.merges_into;
  }
  return null;
}

/** Deletes the feed row; its addresses then refer to the feed that it was merged into. */
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
  if (into !== null) await executePipelined(tx, [...recordMove(tx, feed.url, into), ...incrementEpoch(tx)]);
}

/** Queries that record a former address of a feed. */
export const recordMove = (tx: Transaction<Database>, url: string, feedId: number): readonly CompiledQuery[] => [
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

/** Moves items to another feed, and deletes those that it already has. */
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
  await executePipelined(tx, [
    tx.updateTable('feed_mentions').set({ feed_id: into }).where('item_id', 'in', listed(tx, moved)).compile(),
    tx.updateTable('feed_items').set({ feed_id: into }).where('id', 'in', listed(tx, moved)).compile(),
    ...subtractFromPairs(
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
