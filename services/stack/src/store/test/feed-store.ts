// Stores of feeds for tests: subscriptions, and the contents of the tables.
import assert from 'node:assert/strict';
import { repeatDuring } from '../../../../../tests/support/until.ts';
import type { PolledFeed, Store } from '../index.ts';
import { pathOf, rows } from './backends.ts';

export const T0 = new Date('2026-03-01T12:00:00Z');
export const later = (hours: number) => new Date(T0.getTime() + hours * 3_600_000);
export const keepFrom = new Date('2025-03-01T00:00:00Z');
export const A = 'https://a.example/feed';
export const B = 'https://b.example/feed';
const TABLES = ['feeds', 'feed_items', 'feed_mentions', 'feed_domains', 'named_domains'] as const;

export const dump = (url: string) =>
  Promise.all(TABLES.map((table) => rows(url, `SELECT * FROM ${table} ORDER BY 1, 2`)));

/** Fails unless every stored count is a count of the rows. */
export async function assertCounts(url: string): Promise<void> {
  const mentionsOf = (condition: string) => `(SELECT count(*) FROM feed_mentions WHERE ${condition})`;
  const ofPair = 'feed_id = pair.feed_id AND domain_id = pair.domain_id';
  for (const wrong of [
    'feeds WHERE items <> (SELECT count(*) FROM feed_items WHERE feed_id = feeds.id)',
    `feeds WHERE mentions <> ${mentionsOf('feed_id = feeds.id')}`,
    `named_domains WHERE mentions = 0 OR mentions <> ${mentionsOf('domain_id = named_domains.id')}`,
    `feed_domains pair WHERE mentions = 0 OR mentions <> ${mentionsOf(ofPair)}`,
    `feed_mentions pair WHERE NOT EXISTS (SELECT 1 FROM feed_domains WHERE ${ofPair})`,
    'feed_mentions WHERE domain_id NOT IN (SELECT id FROM named_domains)',
    'feed_mentions m JOIN feed_items i ON i.id = m.item_id WHERE i.feed_id <> m.feed_id',
  ])
    assert.deepEqual(await rows(url, `SELECT * FROM ${wrong}`), [], wrong);
  // PostgreSQL enforces its foreign keys for all writers.
  if (pathOf(url) !== undefined) assert.deepEqual(await rows(url, 'PRAGMA foreign_key_check'), []);
}

export async function subscribed(store: Store, ...urls: string[]): Promise<number[]> {
  const feeds = urls.map((url) => ({ url }));
  await store.feeds.add(feeds, T0);
  return Promise.all(urls.map(async (url) => (await store.feeds.find(url))?.id ?? 0));
}

export const recordPoll = ({ feeds }: Store, id: number, polled: PolledFeed, at = T0) =>
  feeds.record(id, polled, { at, keepFrom });

/** How often another request could read, and a timer fired, before this was over. */
export async function duringWork({ feeds }: Store, work: Promise<unknown>) {
  let [reads, ticks] = [0, 0];
  const ticking = setInterval(() => (ticks += 1), 1);
  await repeatDuring(work, async () => {
    await feeds.find(A);
    await new Promise(setImmediate);
    reads += 1;
  });
  clearInterval(ticking);
  return { reads, ticks };
}
