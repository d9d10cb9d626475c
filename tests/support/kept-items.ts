// What a service keeps of feeds, read from its database file and held against what was there to be read.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import type { CountedMention } from './count-mentions.ts';

export interface FoundItem {
  readonly foundAt: number;
  readonly publishedAt: number | null;
  /** `link shop.com` or `content shop.com`. */
  readonly mentions: readonly string[];
}

/** By address as subscribed: items that were there when the feed was asked, by what tells them apart. */
export type FoundItems = ReadonlyMap<string, ReadonlyMap<string, FoundItem>>;

interface KeptItem {
  readonly at: number;
  readonly mentions: string[];
}

/** What is kept, read from the file itself: by feed and key of the item, each mention with its kind. */
function keptItems(file: string): Map<string, KeptItem> {
  using database = new DatabaseSync(file, { readOnly: true });
  const rows = database
    .prepare(
      `select i.feed_id as feedId, i.key, i.kept_at as at, m.kind, d.name, m.at as mentionAt from feed_items i
       left join feed_mentions m on m.item_id = i.id left join named_domains d on d.id = m.domain_id`,
    )
    .all();
  const items = new Map<string, KeptItem>();
  for (const { feedId, key, at, kind, name, mentionAt } of rows) {
    const item = items.get(`${feedId} ${key}`) ?? { at: Number(at), mentions: [] };
    items.set(`${feedId} ${key}`, item);
    if (name === null) continue;
    assert.equal(mentionAt, at);
    item.mentions.push(`${kind} ${name}`);
  }
  return items;
}

/** An item is told apart by its id, or by where it leads. */
const keysOf = (id: string) => ['id', 'url'].map((of) => createHash('sha256').update(`${of}\n${id}`).digest('hex'));

/** Later than it was found an item cannot have been. */
const timeOf = ({ publishedAt, foundAt }: FoundItem) => Math.min(publishedAt ?? foundAt, foundAt);

export interface ComparedFeeds {
  /** Number of a feed in the file, by address as subscribed. */
  readonly numbers: ReadonlyMap<string, number>;
  /** Addresses of those of which it is not known what can be read. */
  readonly unknown: readonly string[];
}

/** Compares every item that is kept in the file with the truth; returns precision and recall of mentions. */
export function compareItems(file: string, expected: FoundItems, { numbers, unknown }: ComparedFeeds) {
  const kept = keptItems(file);
  const wrong: string[] = [];
  let found = 0;
  let missing = 0;
  for (const [url, items] of expected) {
    for (const [id, item] of items) {
      const place =
        keysOf(id)
          .map((key) => `${numbers.get(url)} ${key}`)
          .find((key) => kept.has(key)) ?? '';
      const read = kept.get(place);
      kept.delete(place);
      const difference = new Set(item.mentions).symmetricDifference(new Set(read?.mentions));
      for (const mention of difference) wrong.push(`${url} ${id}: ${mention}`);
      missing += item.mentions.filter((mention) => difference.has(mention)).length;
      found += read?.mentions.length ?? 0;
      if (!read) wrong.push(`${url} ${id}: not kept`);
      else if (read.at !== timeOf(item))
        wrong.push(`${url} ${id}: of ${new Date(read.at).toISOString()}, not ${new Date(timeOf(item)).toISOString()}`);
    }
  }
  const passedOver = new Set(unknown.map((url) => String(numbers.get(url))));
  for (const [place, { mentions }] of kept) {
    if (passedOver.has(place.split(' ')[0] ?? '')) continue;
    wrong.push(`${place}: not there`);
    found += mentions.length;
  }
  const there = [...expected.values()].flatMap((items) => [...items.values()]).flatMap((item) => item.mentions).length;
  const right = there - missing;
  return { precision: right / found, recall: right / there, there, wrong };
}

/** What the numbers of the API are worked out from. */
export function mentionsOf(expected: FoundItems): CountedMention[] {
  return [...expected].flatMap(([url, items]) =>
    [...items.values()].flatMap((item) =>
      item.mentions.map((mention) => ({ feed: url, domain: mention.split(' ')[1] ?? '', at: timeOf(item) })),
    ),
  );
}
