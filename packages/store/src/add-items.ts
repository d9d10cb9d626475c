// New items of a feed and what they name, written a slice at a time: a handful of statements, however many mentions.
import { type Kysely, sql, type Transaction } from 'kysely';
import { itemRow, type NewItem } from './feed-records.ts';
import { integer, jsonRows, listed } from './json-rows.ts';
import type { Database } from './schema.ts';

/** An item with the time that its age is counted from. */
export interface DatedItem extends NewItem {
  readonly at: number;
}

/** Rows that one transaction writes: everybody else waits for it, in this process and in others. */
const ROWS_A_SLICE = 500;

/** Items in pieces that are written together. One that names more than a slice takes is a slice of its own. */
export function slicesOf(items: readonly DatedItem[]): DatedItem[][] {
  const slices: DatedItem[][] = [];
  let rows = ROWS_A_SLICE;
  for (const item of items) {
    const more = 1 + item.domains.length;
    if (rows + more > ROWS_A_SLICE) {
      slices.push([]);
      rows = 0;
    }
    slices.at(-1)?.push(item);
    rows += more;
  }
  return slices;
}

/** Keys of these that the feed has already. */
export async function knownKeys(
  db: Kysely<Database>,
  feedId: number,
  items: readonly DatedItem[],
): Promise<Set<string>> {
  const keys = items.map(({ key }) => key);
  const rows = await db
    .selectFrom('feed_items')
    .where('feed_id', '=', feedId)
    .where('key', 'in', listed(db, keys))
    .select('key')
    .execute();
  return new Set(rows.map(({ key }) => key));
}

/** Writes those that are new, and every count; returns how many items and mentions that are. */
export async function addItems(
  tx: Transaction<Database>,
  feedId: number,
  items: readonly DatedItem[],
): Promise<{ readonly items: number; readonly mentions: number }> {
  const ids = await insertItems(tx, feedId, items);
  const mentions = mentionsOf(items, ids);
  if (mentions.length > 0) {
    const numbers = await nameDomains(tx, feedId, mentions);
    const rows = mentions.map(({ itemId, domain, kind, at }) => [itemId, numbers.get(domain), kind, at] as const);
    const columns = { item_id: 'integer', domain_id: 'integer', kind: 'text', at: 'integer' } as const;
    await sql`
      insert into feed_mentions (item_id, feed_id, domain_id, kind, at)
      select item_id, ${integer(feedId)}, domain_id, kind, at from ${jsonRows(tx, rows, columns)} as new`.execute(tx);
  }
  if (ids.size > 0)
    await sql`
      update feeds set items = items + ${ids.size}, mentions = mentions + ${mentions.length}
      where id = ${feedId}`.execute(tx);
  return { items: ids.size, mentions: mentions.length };
}

/** By key, the numbers of those that were not there. */
async function insertItems(
  tx: Transaction<Database>,
  feedId: number,
  items: readonly DatedItem[],
): Promise<Map<string, number>> {
  const rows = items.map((item) => {
    const { key, url, title, published_at } = itemRow(item);
    return [key, url, title, published_at, item.at];
  });
  const columns = { key: 'text', url: 'text', title: 'text', published_at: 'integer', kept_at: 'integer' } as const;
  const inserted = await sql<{ id: number; key: string }>`
    insert into feed_items (feed_id, key, url, title, published_at, kept_at)
    select ${integer(feedId)}, key, url, title, published_at, kept_at from ${jsonRows(tx, rows, columns)} as new where true
    on conflict (feed_id, key) do nothing returning id, key`.execute(tx);
  return new Map(inserted.rows.map(({ id, key }) => [key, id]));
}

interface NewMention {
  readonly itemId: number;
  readonly domain: string;
  readonly kind: 'link' | 'content';
  readonly at: number;
}

/** An item that names a domain twice, which readers do not give, counts once; of items with one key the first. */
function mentionsOf(items: readonly DatedItem[], ids: ReadonlyMap<string, number>): NewMention[] {
  const seen = new Set<string>();
  return items.flatMap(({ key, at, domains }) => {
    const itemId = ids.get(key);
    if (itemId === undefined || seen.has(key)) return [];
    seen.add(key);
    const kinds = new Map<string, NewMention['kind']>();
    for (const { domain, kind } of domains) if (!kinds.has(domain)) kinds.set(domain, kind);
    return [...kinds].map(([domain, kind]) => ({ itemId, domain, kind, at }));
  });
}

interface Sum {
  readonly count: number;
  readonly first: number;
  readonly last: number;
}

function sumsOf(mentions: readonly NewMention[]): Map<string, Sum> {
  const sums = new Map<string, Sum>();
  for (const { domain, at } of mentions) {
    const { count, first, last } = sums.get(domain) ?? { count: 0, first: at, last: at };
    sums.set(domain, { count: count + 1, first: Math.min(first, at), last: Math.max(last, at) });
  }
  return sums;
}

const NAMED = { name: 'text', mentions: 'integer', first_at: 'integer', last_at: 'integer' } as const;
/** How often a domain is named, and when last. */
export const PAIRS = { domain_id: 'integer', mentions: 'integer', last_at: 'integer' } as const;

const EARLIER = sql`case when excluded.first_at < named_domains.first_at then excluded.first_at else named_domains.first_at end`;

/** The databases have no name in common for the greater of two. */
function later(table: 'named_domains' | 'feed_domains') {
  const known = sql.ref(`${table}.last_at`);
  return sql`case when excluded.last_at > ${known} then excluded.last_at else ${known} end`;
}

/** Of an insert into `feed_domains`: what is there is counted up. */
export const onKnownPair = sql`
  on conflict (domain_id, feed_id) do update set
    mentions = feed_domains.mentions + excluded.mentions, last_at = ${later('feed_domains')}`;

/** Counts the mentions of each domain, by all feeds and by this one; gives the domains' numbers. */
async function nameDomains(
  tx: Transaction<Database>,
  feedId: number,
  mentions: readonly NewMention[],
): Promise<Map<string, number>> {
  const sums = sumsOf(mentions);
  const rows = [...sums].map(([domain, { count, first, last }]) => [domain, count, first, last]);
  const named = await sql<{ id: number; name: string }>`
    insert into named_domains (name, mentions, first_at, last_at)
    select name, mentions, first_at, last_at from ${jsonRows(tx, rows, NAMED)} as new where true
    on conflict (name) do update set mentions = named_domains.mentions + excluded.mentions,
      first_at = ${EARLIER}, last_at = ${later('named_domains')}
    returning id, name`.execute(tx);
  const pairs = named.rows.map(({ id, name }) => [id, sums.get(name)?.count, sums.get(name)?.last]);
  await sql`
    insert into feed_domains (domain_id, feed_id, mentions, last_at)
    select domain_id, ${integer(feedId)}, mentions, last_at from ${jsonRows(tx, pairs, PAIRS)} as new where true
    ${onKnownPair}`.execute(tx);
  return new Map(named.rows.map(({ id, name }) => [name, id]));
}
