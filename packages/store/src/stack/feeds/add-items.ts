// New items of a feed and what they name, written a slice at a time: a handful of statements, however many mentions.
import { type CompiledQuery, type Kysely, sql } from 'kysely';
import { integer, jsonRows, listed, valuesOf } from '../../db/statements/json-rows.ts';
import type { Database } from '../../schema.ts';
import { itemRow, type NewItem } from './feed-records.ts';

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

/** The queries that write those of which no key is known, with every count; and how many items and mentions that are. */
export function addItems(
  db: Kysely<Database>,
  feedId: number,
  { items, known }: { readonly items: readonly DatedItem[]; readonly known: readonly { readonly key: string }[] },
): { readonly queries: readonly CompiledQuery[]; readonly added: AddedItems } {
  // Of items with one key the first.
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
  readonly kind: 'link' | 'content';
  readonly at: number;
}

/** An item that names a domain twice, which readers do not give, counts once. */
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
const NAMED = { place: 'integer', name: 'text', mentions: 'integer', first_at: 'integer', last_at: 'integer' } as const;
/** How often a domain is named, and when last. */
export const PAIRS = { domain_id: 'integer', mentions: 'integer', last_at: 'integer' } as const;

/** The databases have no name in common for the greater of two. */
const later = (table: 'named_domains' | 'feed_domains', more: 'new' | 'excluded') => {
  const [known, other] = [sql.ref(`${table}.last_at`), sql.ref(`${more}.last_at`)];
  return sql`case when ${other} > ${known} then ${other} else ${known} end`;
};

/** Of an insert into `feed_domains`: what is there is counted up. */
export const onKnownPair = sql`
  on conflict (domain_id, feed_id) do update set
    mentions = feed_domains.mentions + excluded.mentions, last_at = ${later('feed_domains', 'excluded')}`;

const domainNamed = (name: string) => sql`(select id from named_domains where named_domains.name = ${sql.ref(name)})`;

/** The mentions, and those of each domain counted, by all feeds and by this one. */
function mentionQueries(db: Kysely<Database>, feedId: number, mentions: readonly NewMention[]): CompiledQuery[] {
  const sums = [...sumsOf(mentions)].map(([domain, { count, first, last }], place) => [
    place,
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
    // Not an insert that conflicts, for which a number would be lost.
    sql<never>`
      update named_domains set mentions = named_domains.mentions + new.mentions,
        first_at = case when new.first_at < named_domains.first_at then new.first_at else named_domains.first_at end,
        last_at = ${later('named_domains', 'new')}
      from ${named} as new where named_domains.name = new.name`,
    sql<never>`
      insert into named_domains (name, mentions, first_at, last_at)
      select name, mentions, first_at, last_at from ${named} as new
      where not exists (select 1 from named_domains where named_domains.name = new.name) order by place`,
    sql<never>`
      insert into feed_domains (domain_id, feed_id, mentions, last_at)
      select ${domainNamed('new.name')}, ${feed}, mentions, last_at from ${named} as new where true ${onKnownPair}`,
    sql<never>`
      insert into feed_mentions (item_id, feed_id, domain_id, kind, at)
      select ${item}, ${feed}, ${domainNamed('new.domain')}, kind, at from ${jsonRows(db, rows, MENTION)} as new`,
  ].map((query) => query.compile(db));
}
