// Feeds in the store: one outcome is one transaction, given twice it changes nothing, and every count is that of the rows.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { after, describe, it } from 'node:test';
import { type CompiledQuery, Kysely } from 'kysely';
import { FeedTable } from './feeds.ts';
import { openStore, type PolledFeed, type Store } from './index.ts';
import type { Database } from './schema.ts';
import { openDatabase, sqliteDialect } from './sqlite-dialect.ts';
import { poll } from './test/polls.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'strata-feeds-'));
after(() => rmSync(directory, { recursive: true, force: true }));
let files = 0;
const freshFile = () => path.join(directory, `${++files}.db`);

const T0 = new Date('2026-03-01T12:00:00Z');
const later = (hours: number) => new Date(T0.getTime() + hours * 3_600_000);
const keepFrom = new Date('2025-03-01T00:00:00Z');
const A = 'https://a.example/feed';
const B = 'https://b.example/feed';
const TABLES = ['feeds', 'feed_items', 'feed_mentions', 'feed_domains', 'named_domains'] as const;

const dump = (file: string) => {
  using database = new DatabaseSync(file);
  return TABLES.map((table) => database.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).all());
};

/** Every count that is kept is what a count of the rows gives. */
function assertCounts(file: string): void {
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

async function subscribed(store: Store, ...urls: string[]): Promise<number[]> {
  await store.feeds.add(
    urls.map((url) => ({ url })),
    T0,
  );
  return Promise.all(urls.map(async (url) => (await store.feeds.find(url))?.id ?? 0));
}

for (const [name, place] of [
  ['SQLite in memory', () => 'sqlite::memory:'],
  ['a SQLite file', () => `sqlite:${freshFile()}`],
] as const) {
  describe(`feeds on ${name}`, () => {
    it('are subscribed once, due at once, and asked again when they were given up', async () => {
      await using store = await openStore(place());
      const added = await store.feeds.add([{ url: A, title: 'A' }, { url: B }, { url: A }], T0);
      assert.deepEqual(added, { added: 2, known: 1, revived: 0, refused: 0 });
      assert.deepEqual(
        (await store.feeds.due(T0, 10)).map(({ state }) => state.url),
        [A, B],
      );
      const [first] = await store.feeds.list({ after: 0, limit: 1 });
      assert.equal(first?.state.title, 'A');
      assert.deepEqual(
        (await store.feeds.list({ after: first?.id ?? 0, limit: 5 })).map(({ state }) => state.url),
        [B],
      );
      await store.feeds.record(first?.id ?? 0, poll(A, null, { status: 'gone', error: 'gone' }), { at: T0, keepFrom });
      assert.deepEqual(
        (await store.feeds.due(later(100_000), 10)).map(({ state }) => state.url),
        [B],
      );
      assert.equal((await store.feeds.add([{ url: A }], later(1))).revived, 1);
      assert.equal((await store.feeds.find(A))?.state.error, null);
    });

    it('keep the state of a poll, its new items and what they name', async () => {
      await using store = await openStore(place());
      const [a = 0] = await subscribed(store, A);
      const state = { etag: '"x"', title: 'T', nextPollAt: later(1).getTime(), failures: 0, lastNewAt: T0.getTime() };
      const read = poll(
        A,
        [{ key: '1', at: '2026-02-28T00:00:00Z', domains: ['x.com', 'y.com'] }, { key: '2' }],
        state,
      );
      assert.deepEqual(await store.feeds.record(a, read, { at: T0, keepFrom }), {
        kind: 'recorded',
        items: 2,
        mentions: 2,
        domains: ['x.com', 'y.com'],
      });
      assert.deepEqual((await store.feeds.find(A))?.state, read.state);
      const { lastPollAt, ...summary } = await store.feeds.summary();
      assert.deepEqual(summary, { active: 1, gone: 0, polled: 1, failing: 0, items: 2, mentions: 2 });
      assert.deepEqual(lastPollAt, T0);
      const [mention] = await store.feeds.mentions.since(0, 1);
      assert.deepEqual([mention?.domain, mention?.at, mention?.feedId], ['x.com', Date.parse('2026-02-28'), a]);
    });

    it('are named at the item’s date, when it was found where it has none, and never in the future', async () => {
      await using store = await openStore(place());
      const [a = 0] = await subscribed(store, A);
      const items = [
        { key: 'past', at: '2026-02-01T00:00:00Z', domains: ['past.com'] },
        { key: 'none', domains: ['none.com'] },
        { key: 'future', at: '2031-01-01T00:00:00Z', domains: ['future.com'] },
        { key: 'ancient', at: '1999-01-01T00:00:00Z', domains: ['ancient.com'] },
      ];
      await store.feeds.record(a, poll(A, items), { at: T0, keepFrom });
      const at = new Map((await store.feeds.mentions.since(0, 10)).map((mention) => [mention.domain, mention.at]));
      assert.deepEqual(Object.fromEntries(at), {
        'past.com': Date.parse('2026-02-01'),
        'none.com': T0.getTime(),
        'future.com': T0.getTime(),
      });
    });

    it('take hostile texts within their bounds', async () => {
      await using store = await openStore(place());
      assert.equal((await store.feeds.add([{ url: `https://x.example/${'a'.repeat(5_000)}` }], T0)).refused, 1);
      const [a = 0] = await subscribed(store, A);
      const long = '😀'.repeat(100_000);
      const items = ['__proto__', 'constructor', "'; drop table feeds --"].map((key) => ({
        key,
        title: long,
        url: `https://x.example/${long}`,
        domains: ['__proto__', 'x.com', 'x.com'],
      }));
      const { mentions } = await store.feeds.record(
        a,
        poll(A, items, { error: long, etag: long, title: long, siteUrl: long }),
        { at: T0, keepFrom },
      );
      assert.equal(mentions, 6);
      const { state } = (await store.feeds.find(A)) ?? {};
      assert.ok(state?.error && state.error.length <= 500 && state.error.isWellFormed());
      assert.deepEqual([state?.etag, state?.siteUrl, state?.title?.length], [null, null, 300]);
      const [feed] = await store.feeds.mentions.feedsNaming('x.com', 5);
      assert.deepEqual([feed?.latest.url, feed?.latest.title?.length], [null, 300]);
    });

    it('tell of a domain who names it and when, most often first, with the latest item', async () => {
      await using store = await openStore(place());
      const [a = 0, b = 0] = await subscribed(store, A, B);
      const named = (key: string, at: string) => ({
        key,
        at,
        domains: ['x.com'],
        title: `${key}!`,
        url: `https://i.example/${key}`,
      });
      await store.feeds.record(a, poll(A, [named('a1', '2026-02-03')]), { at: T0, keepFrom });
      await store.feeds.record(b, poll(B, [named('b1', '2026-02-02'), named('b2', '2026-02-01')]), {
        at: T0,
        keepFrom,
      });
      assert.deepEqual(await store.feeds.mentions.domain('x.com'), {
        mentions: 3,
        feeds: 2,
        firstAt: new Date('2026-02-01'),
        lastAt: new Date('2026-02-03'),
      });
      const feeds = await store.feeds.mentions.feedsNaming('x.com', 10);
      assert.deepEqual(
        feeds.map(({ url, mentions, latest }) => [url, mentions, latest.title, latest.publishedAt?.toISOString()]),
        [
          [B, 2, 'b1!', '2026-02-02T00:00:00.000Z'],
          [A, 1, 'a1!', '2026-02-03T00:00:00.000Z'],
        ],
      );
      assert.equal(await store.feeds.mentions.domain('nobody.com'), undefined);
      assert.deepEqual(await store.feeds.mentions.feedsNaming('nobody.com', 10), []);
    });

    it('give so many names a day to the scan, whoever asks', async () => {
      await using store = await openStore(place());
      const take = (names: string[], day: string) => store.feeds.takeScans(names, { day, perDay: 3 });
      assert.deepEqual(await take(['a', 'b'], '2026-03-01'), ['a', 'b']);
      assert.deepEqual(await take(['c', 'd'], '2026-03-01'), ['c']);
      assert.deepEqual(await take(['e'], '2026-03-01'), []);
      assert.deepEqual(await take(['e'], '2026-03-02'), ['e']);
    });
  });
}

describe('the outcome of a poll', () => {
  it('changes nothing when it is given twice', async () => {
    const file = freshFile();
    await using store = await openStore(`sqlite:${file}`);
    const [a = 0] = await subscribed(store, A);
    const read = poll(A, [
      { key: '1', domains: ['x.com'] },
      { key: '2', domains: ['x.com', 'y.com'] },
    ]);
    await store.feeds.record(a, read, { at: T0, keepFrom });
    const before = dump(file);
    const again = await store.feeds.record(a, read, { at: T0, keepFrom });
    assert.deepEqual([again.items, again.mentions], [0, 0]);
    assert.deepEqual(dump(file), before);
  });

  it('adds its items and nothing else when a later one was there first', async () => {
    const file = freshFile();
    await using store = await openStore(`sqlite:${file}`);
    const [a = 0] = await subscribed(store, A);
    await store.feeds.record(a, poll(A, [{ key: '2' }], { etag: '"late"' }), { at: later(2), keepFrom });
    await store.feeds.record(a, poll(A, [{ key: '1' }], { etag: '"early"' }), { at: later(1), keepFrom });
    const feed = await store.feeds.find(A);
    assert.deepEqual([feed?.state.etag, feed?.items, feed?.polledAt], ['"late"', 2, later(2)]);
    assertCounts(file);
  });

  it('is lost without harm when the feed was removed meanwhile', async () => {
    const file = freshFile();
    await using store = await openStore(`sqlite:${file}`);
    const [a = 0] = await subscribed(store, A);
    await store.feeds.record(a, poll(A, [{ key: '1', domains: ['x.com'] }]), { at: T0, keepFrom });
    const epoch = await store.feeds.mentions.epoch();
    assert.deepEqual([await store.feeds.remove(A), await store.feeds.remove(A)], [true, false]);
    assert.ok((await store.feeds.mentions.epoch()) > epoch);
    const lost = await store.feeds.record(a, poll(A, [{ key: '2' }]), { at: T0, keepFrom });
    assert.equal(lost.kind, 'removed');
    assert.deepEqual(dump(file).flat(), []);
  });

  it('moves a feed to its new address, and merges it with the one that was there', async () => {
    const file = freshFile();
    await using store = await openStore(`sqlite:${file}`);
    const [a = 0, b = 0] = await subscribed(store, A, B);
    const moved = 'https://moved.example/feed';
    await store.feeds.record(
      a,
      poll(moved, [
        { key: '1', domains: ['x.com', 'y.com'] },
        { key: '2', domains: ['x.com'] },
      ]),
      { at: T0, keepFrom },
    );
    assert.equal((await store.feeds.find(moved))?.id, a);
    await store.feeds.record(
      b,
      poll(B, [
        { key: '2', domains: ['x.com'] },
        { key: '3', domains: ['z.com'] },
      ]),
      { at: T0, keepFrom },
    );
    const leads = poll(B, [{ key: '4', domains: ['w.com'] }], { etag: '"new"' });
    assert.equal((await store.feeds.record(a, leads, { at: later(1), keepFrom })).kind, 'merged');
    assertCounts(file);
    assert.equal(await store.feeds.find(moved), undefined);
    const feed = await store.feeds.find(B);
    assert.deepEqual([feed?.id, feed?.items, feed?.mentions, feed?.state.etag], [b, 4, 5, '"new"']);
    assert.equal((await store.feeds.mentions.domain('x.com'))?.feeds, 1);
    assert.equal(
      (await store.feeds.record(a, leads, { at: later(1), keepFrom })).kind,
      'removed',
      'and a second time nothing',
    );
  });

  it('is written whole or not at all', async () => {
    const file = freshFile();
    await using store = await openStore(`sqlite:${file}`);
    const [a = 0] = await subscribed(store, A);
    const before = dump(file);
    const broken = poll(A, [{ key: '1', domains: ['x.com'] }, { key: null as unknown as string }]) as PolledFeed;
    await assert.rejects(store.feeds.record(a, broken, { at: T0, keepFrom }));
    assert.deepEqual(dump(file), before);
  });

  it('survives a kill whole or not at all', async () => {
    const file = freshFile();
    const acknowledged: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      const script = path.join(import.meta.dirname, 'test/feed-recorder-process.ts');
      const child = spawn(process.execPath, [script, `sqlite:${file}`, String(round * 10_000)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const exited = once(child, 'exit');
      let seen = 0;
      for await (const line of createInterface({ input: child.stdout })) {
        acknowledged.push(line);
        seen += 1;
        if (seen === 20 + round * 7) child.kill('SIGKILL');
      }
      await exited;
    }
    await using store = await openStore(`sqlite:${file}`);
    for (const url of acknowledged) assert.equal((await store.feeds.find(url))?.items, 20, url);
    assert.ok(acknowledged.length >= 70);
    assertCounts(file);
  });
});

describe('what grows old', () => {
  it('is dropped in bites, with what it named; an item without a date stays as long as it stands in its feed', async () => {
    const file = freshFile();
    await using store = await openStore(`sqlite:${file}`);
    const [a = 0] = await subscribed(store, A);
    const items = Array.from({ length: 30 }, (_, i) => ({
      key: String(i),
      at: new Date(T0.getTime() - i * 86_400_000).toISOString(),
      domains: [`d${i % 4}.com`, `only${i}.com`],
    }));
    await store.feeds.record(a, poll(A, [...items, { key: 'undated', domains: ['u.com'] }]), { at: T0, keepFrom });
    const before = later(-24 * 9.5);
    const bites: number[] = [];
    for (let bite = await store.feeds.forget(before, 7); bite > 0; bite = await store.feeds.forget(before, 7))
      bites.push(bite);
    assert.deepEqual(bites, [7, 7, 6]);
    assertCounts(file);
    assert.equal(await store.feeds.mentions.domain('only20.com'), undefined);

    await store.feeds.record(a, poll(A, [{ key: 'undated', domains: ['u.com'] }]), { at: later(24 * 40), keepFrom });
    while ((await store.feeds.forget(later(24 * 39), 100)) > 0);
    assert.equal((await store.feeds.find(A))?.items, 1);
    assertCounts(file);
  });

  it('is not taken in again from a feed that still has it', async () => {
    await using store = await openStore('sqlite::memory:');
    const [a = 0] = await subscribed(store, A);
    const old = poll(A, [{ key: 'old', at: '2026-01-01T00:00:00Z', domains: ['x.com'] }]);
    await store.feeds.record(a, old, { at: T0, keepFrom });
    const cut = new Date('2026-02-01T00:00:00Z');
    assert.equal(await store.feeds.forget(cut, 10), 1);
    assert.equal((await store.feeds.record(a, old, { at: later(1), keepFrom: cut })).items, 0);
  });
});

describe('reading feeds', () => {
  it('pages through mentions by number and by time without repeats', async () => {
    await using store = await openStore('sqlite::memory:');
    const [a = 0] = await subscribed(store, A);
    const items = Array.from({ length: 100 }, (_, i) => ({
      key: String(i),
      at: new Date(T0.getTime() - ((i * 7) % 10) * 3_600_000).toISOString(),
      domains: [`d${i}.com`],
    }));
    await store.feeds.record(a, poll(A, items), { at: T0, keepFrom });
    const upToId = await store.feeds.mentions.latestId();
    await store.feeds.record(a, poll(A, [{ key: 'more', domains: ['more.com'] }]), { at: T0, keepFrom });
    const seen: number[] = [];
    let place = { at: T0.getTime() - 5 * 3_600_000, id: -1 };
    for (;;) {
      const page = await store.feeds.mentions.page(place, { upToId, limit: 7 });
      const last = page.at(-1);
      if (!last) break;
      seen.push(...page.map(({ id }) => id));
      place = last;
    }
    assert.equal(seen.length, 60);
    assert.equal(new Set(seen).size, 60);
    assert.deepEqual(
      (await store.feeds.mentions.since(upToId, 10)).map(({ domain }) => domain),
      ['more.com'],
    );
  });

  it('goes by an index wherever a request or a poll waits for it', async () => {
    const file = freshFile();
    {
      await using store = await openStore(`sqlite:${file}`);
      const [a = 0] = await subscribed(store, A, B);
      const items = Array.from({ length: 300 }, (_, i) => ({ key: String(i), domains: ['x.com', `d${i}.com`] }));
      await store.feeds.record(a, poll(A, items), { at: T0, keepFrom });
    }
    const queries: CompiledQuery[] = [];
    const database = openDatabase(file);
    await using db = new Kysely<Database>({
      dialect: sqliteDialect(database),
      log: ({ query }) => void queries.push(query),
    });
    const feeds = new FeedTable(db);
    await feeds.due(T0, 10);
    await feeds.list({ after: 0, limit: 10 });
    await feeds.find(A);
    await feeds.mentions.latestId();
    await feeds.mentions.since(3, 10);
    await feeds.mentions.page({ at: 0, id: 0 }, { upToId: 100, limit: 10 });
    await feeds.mentions.domain('x.com');
    await feeds.mentions.feedsNaming('x.com', 10);
    await feeds.record(1, poll(A, [{ key: 'new', domains: ['x.com'] }, { key: '1' }]), { at: later(1), keepFrom });
    await feeds.forget(new Date(0), 10);
    const read = queries.filter(({ sql }) => !/^(begin|commit)/i.test(sql));
    assert.ok(read.length >= 18);
    for (const statistics of ['', 'ANALYZE']) {
      database.exec(statistics);
      for (const { sql, parameters } of read) {
        const plan = database
          .prepare(`EXPLAIN QUERY PLAN ${sql}`)
          .all(...(parameters as SQLInputValue[]))
          .map(({ detail }) => String(detail))
          .join('; ');
        const isPaged = / order by "(id|feed_mentions"\."id)" (desc )?limit/.test(sql);
        if (!isPaged) assert.doesNotMatch(plan, /SCAN /, `${sql}\n${plan}`);
        assert.doesNotMatch(plan, /TEMP B-TREE FOR ORDER BY/, `${sql}\n${plan}`);
      }
    }
  });
});
