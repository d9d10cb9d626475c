// Stores of feeds for tests: files that go away, subscriptions, and what the tables hold.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Store } from '../index.ts';

export const T0 = new Date('2026-03-01T12:00:00Z');
export const later = (hours: number) => new Date(T0.getTime() + hours * 3_600_000);
export const keepFrom = new Date('2025-03-01T00:00:00Z');
export const A = 'https://a.example/feed';
export const B = 'https://b.example/feed';
const TABLES = ['feeds', 'feed_items', 'feed_mentions', 'feed_domains', 'named_domains'] as const;

/** Names of files in a directory of its own, and its end. */
export function freshFiles(): { readonly next: () => string; readonly remove: () => void } {
  const directory = mkdtempSync(path.join(tmpdir(), 'strata-feeds-'));
  let files = 0;
  return {
    next: () => path.join(directory, `${++files}.db`),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** Every row of every table of feeds. */
export function dump(file: string) {
  using database = new DatabaseSync(file);
  return TABLES.map((table) => database.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).all());
}

/** Fails unless every count that is kept is what a count of the rows gives. */
export function assertCounts(file: string): void {
  using database = new DatabaseSync(file);
  const rows = (sql: string) =>
    database
      .prepare(sql)
      .all()
      .map((row) => ({ ...row }));
  assert.deepEqual(
    rows('SELECT id, items, mentions FROM feeds ORDER BY id'),
    rows(`SELECT id, (SELECT count(*) FROM feed_items WHERE feed_id = feeds.id) AS items,
            (SELECT count(*) FROM feed_mentions WHERE feed_id = feeds.id) AS mentions FROM feeds ORDER BY id`),
  );
  assert.deepEqual(
    rows('SELECT domain_id, feed_id, mentions FROM feed_domains ORDER BY 1, 2'),
    rows('SELECT domain_id, feed_id, count(*) AS mentions FROM feed_mentions GROUP BY 1, 2 ORDER BY 1, 2'),
  );
  assert.deepEqual(
    rows('SELECT id, mentions FROM named_domains ORDER BY 1'),
    rows('SELECT domain_id AS id, count(*) AS mentions FROM feed_mentions GROUP BY 1 ORDER BY 1'),
  );
  assert.deepEqual(
    rows('SELECT m.id FROM feed_mentions m JOIN feed_items i ON i.id = m.item_id WHERE i.feed_id <> m.feed_id'),
    [],
  );
  assert.deepEqual(database.prepare('PRAGMA foreign_key_check').all(), []);
}

/** Subscribes; gives the numbers. */
export async function subscribed(store: Store, ...urls: string[]): Promise<number[]> {
  await store.feeds.add(
    urls.map((url) => ({ url })),
    T0,
  );
  return Promise.all(urls.map(async (url) => (await store.feeds.find(url))?.id ?? 0));
}
