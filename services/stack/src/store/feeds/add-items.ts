// Writes new items of a feed and their mentions in slices, with a constant number of statements each.

import { integer, jsonRows, listed, valuesOf } from '@strata/db';
import type { FeedItem, MentionKind } from '@strata/feeds';
import { type CompiledQuery, type Kysely, sql } from 'kysely';
import type { Database } from '../schema.ts';
import { itemRow } from './feed-records.ts';

/** An item with the time that its retention counts from. */
export interface DatedItem extends FeedItem {
  readonly at: number;
}

/** Maximum of rows in one transaction, which blocks all other writers. */
const ROWS_A_SLICE = 500;

/** Splits items into slices. An item with more rows than a slice is a slice of its own. */
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

/** The keys of these items that the feed already has. */
export const knownKeys = (
  db: Kysely<Database>,
  feedId: number,
  items: readonly DatedItem[],
): CompiledQuery<{ readonly key: string }> =>
  db
    .selectFrom('feed_items')
    .where('feed_id', '=', feedId)
    .where(
      'key',
      'in',
      listed(
        db,
        items.map(({ key }) => key),
      ),
    )
    .select('key')
    .compile();

export interface AddedItems {
  readonly items: number;
  readonly mentions: number;
}

/** The queries that write the items with unknown keys and update all counts; and the numbers of items and mentions. */
export function addItems(
  db: Kysely<Database>,
  feedId: number,
  { items, known }: { readonly items: readonly DatedItem[]; readonly known: readonly { readonly key: string }[] },
): { readonly queries: readonly CompiledQuery[]; readonly added: AddedItems } {
  // Of several items with the same key, the first is added.
  const byKey = new Map(items.toReversed().map((item) => [item.key, item]));
  for (const { key } of known) byKey.delete(key);
  const unknown = items.filter((item) => byKey.get(item.key) === item);
  const mentions = unknown.flatMap(mentionsOf);
  const added = { items: unknown.length, mentions: mentions.length };
  if (unknown.length === 0) return { queries: [], added };
  const counting = sql<never>`
    update feeds set items = items + ${added.items}, mentions = mentions + ${added.mentions} where id = ${feedId}`;
  const naming = mentions.length > 0 ? mentionQueries(db, feedId, mentions) : [];
  return { queries: [itemQuery(db, feedId, unknown), ...naming, counting.compile(db)], added };
}

function itemQuery(db: Kysely<Database>, feedId: number, items: readonly DatedItem[]): CompiledQuery {
  const rows = items.map((item) => {
    const { key, url, title, published_at } = itemRow(item);
    return [key, url, title, published_at, item.at];
  });
  const columns = { key: 'text', url: 'text', title: 'text', published_at: 'integer', kept_at: 'integer' } as const;
  return sql<never>`
    insert into feed_items (feed_id, key, url, title, published_at, kept_at)
    select ${integer(feedId)}, key, url, title, published_at, kept_at from ${jsonRows(db, rows, columns)} as new`.compile(
    db,
  );
}

interface NewMention {
  readonly key: string;
  readonly domain: string;
  readonly kind: MentionKind;
  readonly at: number;
}

/** Each domain once, should an item name it twice. */
function mentionsOf({ key, at, domains }: DatedItem): NewMention[] {
  const kinds = new Map<string, NewMention['kind']>();
  for (const { domain, kind } of domains) if (!kinds.has(domain)) kinds.set(domain, kind);
  return [...kinds].map(([domain, kind]) => ({ key, domain, kind, at }));
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

const MENTION = { key: 'text', domain: 'text', kind: 'text', at: 'integer' } as const;
const NAMED = {
  position: 'integer',
  name: 'text',
  mentions: 'integer',
  first_at: 'integer',
  last_at: 'integer',
} as const;
/** The number of mentions of a domain, and the last of them. */
export const PAIRS = { domain_id: 'integer', mentions: 'integer', last_at: 'integer' } as const;

/** The two databases have no common function for the greater of two values. */
const later = (table: 'named_domains' | 'feed_domains', more: 'new' | 'excluded') => {
  const [known, added] = [sql.ref(`${table}.last_at`), sql.ref(`${more}.last_at`)];
  return sql`case when ${added} > ${known} then ${added} else ${known} end`;
};

/** For an insert into `feed_domains`: adds to the counts of existing rows. */
export const onKnownPair = sql`
  on conflict (domain_id, feed_id) do update set
    mentions = feed_domains.mentions + excluded.mentions, last_at = ${later('feed_domains', 'excluded')}`;

const domainNamed = (name: string) => sql`(select id from named_domains where named_domains.name = ${sql.ref(name)})`;

/** Adds the mentions, and the counts of each domain, in total and for this feed. */
function mentionQueries(db: Kysely<Database>, feedId: number, mentions: readonly NewMention[]): CompiledQuery[] {
  const sums = [...sumsOf(mentions)].map(([domain, { count, first, last }], index) => [
    index,
    domain,
    count,
    first,
    last,
  ]);
  const named = jsonRows(db, sums, NAMED);
  const rows = mentions.map((mention) => valuesOf(MENTION, mention));
  const [feed, item] = [
    integer(feedId),
    sql`(select id from feed_items where feed_id = ${feedId} and feed_items.key = new.key)`,
  ];
  return [
    // An upsert would use up a number for each conflict.
    sql<never>`
      update named_domains set mentions = named_domains.mentions + new.mentions,
        first_at = case when new.first_at < named_domains.first_at then new.first_at else named_domains.first_at end,
        last_at = ${later('named_domains', 'new')}
      from ${named} as new where named_domains.name = new.name`,
    sql<never>`
      insert into named_domains (name, mentions, first_at, last_at)
      select name, mentions, first_at, last_at from ${named} as new
      where not exists (select 1 from named_domains where named_domains.name = new.name) order by position`,
    sql<never>`
      insert into feed_domains (domain_id, feed_id, mentions, last_at)
      select ${domainNamed('new.name')}, ${feed}, mentions, last_at from ${named} as new where true ${onKnownPair}`,
    sql<never>`
      insert into feed_mentions (item_id, feed_id, domain_id, kind, at)
      select ${item}, ${feed}, ${domainNamed('new.domain')}, kind, at from ${jsonRows(db, rows, MENTION)} as new`,
  ].map((query) => query.compile(db));
}
