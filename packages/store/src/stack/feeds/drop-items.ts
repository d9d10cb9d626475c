// Items leave their tables and every count: those that grew old, and those of feeds that are given up. A bite is one transaction
// of a few hundred rows, since everybody else waits for it.
import { type CompiledQuery, type Kysely, sql, type Transaction } from 'kysely';
import { bumping } from '../../db/counters.ts';
import { readSetting } from '../../db/settings.ts';
import { jsonRows, listed } from '../../db/statements/json-rows.ts';
import { together } from '../../db/statements/together.ts';
import { writeTransaction } from '../../db/transactions/write-transaction.ts';
import type { Database } from '../../schema.ts';

/** Rows that one bite takes: items and mentions. A single item may have as many more. */
const ROWS_A_BITE = 500;
const ITEMS_A_BITE = 100;
/** Name of the setting that counts removals: who keeps counts of mentions in memory counts anew when it differs. */
const EPOCH = 'feed-mentions-epoch';

/** How often mentions were taken away that are young enough to be counted. */
export async function mentionsEpoch(db: Kysely<Database>): Promise<number> {
  return Number((await readSetting(db, EPOCH)) ?? 0);
}

/** Queries that count up. */
export const bumpEpoch = (db: Kysely<Database>): readonly CompiledQuery[] => [
  sql<never>`
    insert into settings (name, value) values (${EPOCH}, '1')
    on conflict (name) do update set value = cast(cast(settings.value as integer) + 1 as text)`.compile(db),
  bumping(db, 'feeds'),
];

/** Drops at most so many items that are older, a bite, with what they named; returns how many: 0 when none are left. */
export async function forgetItems(db: Kysely<Database>, before: number, limit: number): Promise<number> {
  return writeTransaction(db, async (tx) => {
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
  const [{ rows: pairs }, { rows: feeds }] = await together(tx, [
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
  await together(tx, [
    tx.deleteFrom('feed_mentions').where('item_id', 'in', listed(tx, ids)).compile(),
    tx.deleteFrom('feed_items').where('id', 'in', listed(tx, ids)).compile(),
    addCounts(
      tx,
      feeds.map(({ feed_id, items }) => [feed_id, -items, -mentions(feed_id)]),
    ),
    ...takeFromPairs(tx, pairs),
    ...takeFromDomains(tx, pairs),
  ]);
}

/** By feed how many items and mentions more it has. */
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

/** Queries after which a feed names a domain that often less. */
export function takeFromPairs(db: Kysely<Database>, pairs: readonly PairCount[]): readonly CompiledQuery[] {
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

/** What nobody names any more is forgotten. */
function takeFromDomains(db: Kysely<Database>, pairs: readonly PairCount[]): readonly CompiledQuery[] {
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
