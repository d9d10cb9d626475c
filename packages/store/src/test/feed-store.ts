// Stores of feeds for tests: subscriptions, and the contents of the tables.
import assert from 'node:assert/strict';
import type { PolledFeed, Store } from '../index.ts';
import { pathOf, type Row, rows } from './places.ts';

export const T0 = new Date('2026-03-01T12:00:00Z');
export const later = (hours: number) => new Date(T0.getTime() + hours * 3_600_000);
export const keepFrom = new Date('2025-03-01T00:00:00Z');
export const A = 'https://a.example/feed';
export const B = 'https://b.example/feed';
const TABLES = ['feeds', 'feed_items', 'feed_mentions', 'feed_domains', 'named_domains'] as const;

/** Every row of every table of feeds. */
export async function dump(url: string): Promise<Row[][]> {
  const tables: Row[][] = [];
  for (const table of TABLES) tables.push(await rows(url, `SELECT * FROM ${table} ORDER BY 1, 2`));
  return tables;
}

/** Fails unless every stored count is a count of the rows. */
export async function assertCounts(url: string): Promise<void> {
  for (const [stored, counted] of [
    [
      'SELECT id, items, mentions FROM feeds ORDER BY id',
      `SELECT id, (SELECT count(*) FROM feed_items WHERE feed_id = feeds.id) AS items,
         (SELECT count(*) FROM feed_mentions WHERE feed_id = feeds.id) AS mentions FROM feeds ORDER BY id`,
    ],
    [
      'SELECT domain_id, feed_id, mentions FROM feed_domains ORDER BY 1, 2',
      'SELECT domain_id, feed_id, count(*) AS mentions FROM feed_mentions GROUP BY 1, 2 ORDER BY 1, 2',
    ],
    [
      'SELECT id, mentions FROM named_domains ORDER BY 1',
      'SELECT domain_id AS id, count(*) AS mentions FROM feed_mentions GROUP BY 1 ORDER BY 1',
    ],
  ] as const)
    assert.deepEqual(await rows(url, stored), await rows(url, counted));
  const ofTwoFeeds =
    'SELECT m.id FROM feed_mentions m JOIN feed_items i ON i.id = m.item_id WHERE i.feed_id <> m.feed_id';
  assert.deepEqual(await rows(url, ofTwoFeeds), []);
  // PostgreSQL enforces its foreign keys for all writers.
  if (pathOf(url) !== undefined) assert.deepEqual(await rows(url, 'PRAGMA foreign_key_check'), []);
}

/** Subscribes; returns the ids. */
export async function subscribed(store: Store, ...urls: string[]): Promise<number[]> {
  const feeds = urls.map((url) => ({ url }));
  await store.feeds.add(feeds, T0);
  return Promise.all(urls.map(async (url) => (await store.feeds.find(url))?.id ?? 0));
}

/** Records a poll of that time. */
export const recordPoll = ({ feeds }: Store, id: number, polled: PolledFeed, at = T0) =>
  feeds.record(id, polled, { at, keepFrom });

/** How often another request could read before this was over. */
export async function readsDuring({ feeds }: Store, work: Promise<unknown>): Promise<number> {
  let isOver = false;
  const ending = work.finally(() => {
    isOver = true;
  });
  let reads = 0;
  for (; !isOver; reads += 1) {
    await feeds.find(A);
    await new Promise(setImmediate);
  }
  await ending;
  return reads;
}
