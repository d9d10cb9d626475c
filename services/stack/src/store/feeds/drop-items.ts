// Deletes items and subtracts them from all counts: expired items, and items of removed feeds. A batch is one transaction of a
// few hundred rows, which limits how long it blocks other writers.

import { counterIncrement, executePipelined, jsonRows, listed, readSetting, writeTransaction } from '@strata/db';
import { type CompiledQuery, type Kysely, sql, type Transaction } from 'kysely';
import type { Database } from '../schema.ts';

/** Maximum of rows, items and mentions, in a batch. A single item may exceed it. */
const BATCH_ROWS = 500;
const BATCH_ITEMS = 100;
/** Name of the setting that counts removals: processes that keep counts of mentions in memory rebuild them when it differs. */
const EPOCH = 'feed-mentions-epoch';

/** The number of removals of mentions that are recent enough to be counted in memory. */
export async function mentionsEpoch(db: Kysely<Database>): Promise<number> {
  return Number((await readSetting(db, EPOCH)) ?? 0);
}

/** Queries that increment the epoch. */
export const incrementEpoch = (db: Kysely<Database>): readonly CompiledQuery[] => [
  sql<never>`
    insert into settings (name, value) values (${EPOCH}, '1')
    on conflict (name) do update set value = cast(cast(settings.value as integer) + 1 as text)`.compile(db),
  counterIncrement(db, 'feeds'),
];

/** Deletes a batch of at most `limit` older items with their mentions; returns how many, 0 at the end. */
export async function forgetItems(db: Kysely<Database>, before: number, limit: number): Promise<number> {
  return writeTransaction(db, async (tx) => {
    const rows = await itemSizes(tx)
      .where('kept_at', '<', before)
      .orderBy('kept_at')
      .orderBy('id')
      .limit(Math.min(limit, BATCH_ITEMS))
      .execute();
    const ids = batchOf(rows);
    await dropItems(tx, ids);
    return ids.length;
  });
}

export async function itemBatch(tx: Transaction<Database>, feedId: number): Promise<number[]> {
  return batchOf(await itemSizes(tx).where('feed_id', '=', feedId).limit(BATCH_ITEMS).execute());
}

function itemSizes(tx: Transaction<Database>) {
  return tx
    .selectFrom('feed_items')
    .select('id')
    .select(sql<number>`(select count(*) from feed_mentions where item_id = feed_items.id)`.as('mentions'));
}

function batchOf(rows: readonly { readonly id: number; readonly mentions: number }[]): number[] {
  const ids: number[] = [];
  let left = BATCH_ROWS;
  for (const { id, mentions } of rows) {
    left -= 1 + mentions;
    if (left < 0 && ids.length > 0) break;
    ids.push(id);
  }
  return ids;
}

/** Deletes items with their mentions, and subtracts them from all counts. */
export async function dropItems(tx: Transaction<Database>, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  const [{ rows: pairs }, { rows: feeds }] = await executePipelined(tx, [
    tx
      .selectFrom('feed_mentions')
      .where('item_id', 'in', listed(tx, ids))
      .groupBy(['domain_id', 'feed_id'])
      .select(['domain_id', 'feed_id', sql<number>`count(*)`.as('mentions')])
      .compile(),
    tx
      .selectFrom('feed_items')
      .where('id', 'in', listed(tx, ids))
      .groupBy('feed_id')
      .select(['feed_id', sql<number>`count(*)`.as('items')])
      .compile(),
  ]);
  const mentions = (feedId: number) =>
    pairs.filter((pair) => pair.feed_id === feedId).reduce((sum, pair) => sum + pair.mentions, 0);
  await executePipelined(tx, [
    tx.deleteFrom('feed_mentions').where('item_id', 'in', listed(tx, ids)).compile(),
    tx.deleteFrom('feed_items').where('id', 'in', listed(tx, ids)).compile(),
    addCounts(
      tx,
      feeds.map(({ feed_id, items }) => [feed_id, -items, -mentions(feed_id)]),
    ),
    ...subtractFromPairs(tx, pairs),
    ...subtractFromDomains(tx, pairs),
  ]);
}

/** Adds to the counts of items and mentions of feeds. */
export function addCounts(
  db: Kysely<Database>,
  counts: readonly (readonly [feedId: number, items: number, mentions: number])[],
): CompiledQuery {
  const rows = jsonRows(db, counts, { id: 'integer', items: 'integer', mentions: 'integer' });
  return sql<never>`
    update feeds set items = feeds.items + more.items, mentions = feeds.mentions + more.mentions
    from ${rows} as more where feeds.id = more.id`.compile(db);
}

export interface PairCount {
  readonly domain_id: number;
  readonly feed_id: number;
  readonly mentions: number;
}

/** Queries that subtract mentions of a domain by a feed, and delete pairs without mentions. */
export function subtractFromPairs(db: Kysely<Database>, pairs: readonly PairCount[]): readonly CompiledQuery[] {
  const rows = pairs.map(({ domain_id, feed_id, mentions }) => [domain_id, feed_id, mentions]);
  const pair = jsonRows(db, rows, { domain_id: 'integer', feed_id: 'integer', mentions: 'integer' });
  return [
    sql<never>`
      update feed_domains set mentions = feed_domains.mentions - pair.mentions from ${pair} as pair
      where feed_domains.domain_id = pair.domain_id and feed_domains.feed_id = pair.feed_id`.compile(db),
    sql<never>`
      delete from feed_domains where mentions <= 0
        and (domain_id, feed_id) in (select pair.domain_id, pair.feed_id from ${pair} as pair)`.compile(db),
  ];
}

/** Subtracts mentions of domains, and deletes domains without mentions. */
function subtractFromDomains(db: Kysely<Database>, pairs: readonly PairCount[]): readonly CompiledQuery[] {
  const sums = new Map<number, number>();
  for (const { domain_id, mentions } of pairs) sums.set(domain_id, (sums.get(domain_id) ?? 0) + mentions);
  return [
    sql<never>`
      update named_domains set mentions = named_domains.mentions - less.mentions
      from ${jsonRows(db, [...sums], { id: 'integer', mentions: 'integer' })} as less
      where named_domains.id = less.id`.compile(db),
    db
      .deleteFrom('named_domains')
      .where('id', 'in', listed(db, [...sums.keys()]))
      .where('mentions', '<=', 0)
      .compile(),
  ];
}
