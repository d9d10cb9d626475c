// Items leave their tables and every count: those that grew old, and those of feeds that are given up. A bite is one transaction
// of a few hundred rows, since everybody else waits for it.
import { type Kysely, sql, type Transaction } from 'kysely';
import { bump } from './counters.ts';
import { jsonRows, listed } from './json-rows.ts';
import type { Database } from './schema.ts';

/** Rows that one bite takes: items and mentions. A single item may have as many more. */
const ROWS_A_BITE = 500;
const ITEMS_A_BITE = 100;
/** Name of the setting that counts removals: who keeps counts of mentions in memory counts anew when it differs. */
const EPOCH = 'feed-mentions-epoch';

/** How often mentions were taken away that are young enough to be counted. */
export async function mentionsEpoch(db: Kysely<Database>): Promise<number> {
  const row = await db.selectFrom('settings').where('name', '=', EPOCH).select('value').executeTakeFirst();
  return Number(row?.value ?? 0);
}

export async function bumpEpoch(tx: Transaction<Database>): Promise<void> {
  const value = String((await mentionsEpoch(tx)) + 1);
  await tx
    .insertInto('settings')
    .values({ name: EPOCH, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();
  await bump(tx, 'feeds');
}

/** Drops at most so many items that are older, a bite, with what they named; returns how many: 0 when none are left. */
export async function forgetItems(db: Kysely<Database>, before: number, limit: number): Promise<number> {
  return db.transaction().execute(async (tx) => {
    const rows = await itemsToBite(tx)
      .where('kept_at', '<', before)
      .orderBy('kept_at')
      .orderBy('id')
      .limit(Math.min(limit, ITEMS_A_BITE))
      .execute();
    const ids = bite(rows);
    await dropItems(tx, ids);
    return ids.length;
  });
}

/** Some items of a feed: as many as are dealt with at once. */
export async function someItems(tx: Transaction<Database>, feedId: number): Promise<number[]> {
  return bite(await itemsToBite(tx).where('feed_id', '=', feedId).limit(ITEMS_A_BITE).execute());
}

function itemsToBite(tx: Transaction<Database>) {
  return tx
    .selectFrom('feed_items')
    .select('id')
    .select(sql<number>`(select count(*) from feed_mentions where item_id = feed_items.id)`.as('mentions'));
}

function bite(rows: readonly { readonly id: number; readonly mentions: number }[]): number[] {
  const ids: number[] = [];
  let left = ROWS_A_BITE;
  for (const { id, mentions } of rows) {
    left -= 1 + mentions;
    if (left < 0 && ids.length > 0) break;
    ids.push(id);
  }
  return ids;
}

/** Takes items and what they named out of the tables and out of every count. */
export async function dropItems(tx: Transaction<Database>, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  const pairs = await tx
    .selectFrom('feed_mentions')
    .where('item_id', 'in', listed(tx, ids))
    .groupBy(['domain_id', 'feed_id'])
    .select(['domain_id', 'feed_id', sql<number>`count(*)`.as('mentions')])
    .execute();
  const feeds = await tx
    .selectFrom('feed_items')
    .where('id', 'in', listed(tx, ids))
    .groupBy('feed_id')
    .select(['feed_id', sql<number>`count(*)`.as('items')])
    .execute();
  await tx.deleteFrom('feed_mentions').where('item_id', 'in', listed(tx, ids)).execute();
  await tx.deleteFrom('feed_items').where('id', 'in', listed(tx, ids)).execute();
  for (const { feed_id, items } of feeds) {
    const mentions = pairs.filter((pair) => pair.feed_id === feed_id).reduce((sum, pair) => sum + pair.mentions, 0);
    await addCounts(tx, feed_id, { items: -items, mentions: -mentions });
  }
  await takeFromPairs(tx, pairs);
  await takeFromDomains(tx, pairs);
}

export async function addCounts(
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

export interface PairCount {
  readonly domain_id: number;
  readonly feed_id: number;
  readonly mentions: number;
}

/** That a feed names a domain that often less. */
export async function takeFromPairs(tx: Transaction<Database>, pairs: readonly PairCount[]): Promise<void> {
  const rows = pairs.map(({ domain_id, feed_id, mentions }) => [domain_id, feed_id, mentions]);
  const pair = jsonRows(tx, rows, { domain_id: 'integer', feed_id: 'integer', mentions: 'integer' });
  await sql`
    update feed_domains set mentions = feed_domains.mentions - pair.mentions from ${pair} as pair
    where feed_domains.domain_id = pair.domain_id and feed_domains.feed_id = pair.feed_id`.execute(tx);
  await sql`
    delete from feed_domains where mentions <= 0
      and (domain_id, feed_id) in (select pair.domain_id, pair.feed_id from ${pair} as pair)`.execute(tx);
}

/** What nobody names any more is forgotten. */
async function takeFromDomains(tx: Transaction<Database>, pairs: readonly PairCount[]): Promise<void> {
  const sums = new Map<number, number>();
  for (const { domain_id, mentions } of pairs) sums.set(domain_id, (sums.get(domain_id) ?? 0) + mentions);
  await sql`
    update named_domains set mentions = named_domains.mentions - less.mentions
    from ${jsonRows(tx, [...sums], { id: 'integer', mentions: 'integer' })} as less
    where named_domains.id = less.id`.execute(tx);
  await tx
    .deleteFrom('named_domains')
    .where('id', 'in', listed(tx, [...sums.keys()]))
    .where('mentions', '<=', 0)
    .execute();
}
