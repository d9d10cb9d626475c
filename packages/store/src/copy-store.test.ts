// A SQLite store copied to PostgreSQL: the same answers, the same numbers to come, and all or nothing.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, it } from 'node:test';
import { copyToPostgres, openStore, type Store } from './index.ts';
import { A, keepFrom, subscribed, T0 } from './test/feed-store.ts';
import { poll } from './test/polls.ts';
import { binaries, notice, startPostgres } from './test/postgres.ts';
import { confirm, GOOGLE, scanOf } from './test/scans.ts';

const HOSTILE = 'a\tb\nc\r\\d\\N "e" \u{1f600} é\u0301 \\x00';

/** Of every kind of value something. */
async function fill(url: string): Promise<void> {
  await using store = await openStore(url);
  for (let i = 0; i < 2_100; i += 1)
    await store.recordScan(
      scanOf(`d${i % 700}.com`, `2026-01-0${1 + Math.floor(i / 700)}T00:00:00.000Z`, GOOGLE),
      confirm,
    );
  await store.addDomains(['waiting.com'], { source: HOSTILE });
  const [a = 0] = await subscribed(store, A);
  const items = [
    { key: HOSTILE, domains: ['x.com', 'y.com'] },
    { key: '2', domains: ['x.com'] },
  ];
  await store.feeds.record(a, poll(A, items, { title: HOSTILE, error: 'with a NUL \0' }), { at: T0, keepFrom });
  await store.segments.put({
    ...{ nonce: Uint8Array.of(0, 255, 92, 10), worker: 'w', gateway: 'g', caller: undefined, modelSha256: 'a' },
    ...{ promptTokens: 1, cachedTokens: 0, outputTokens: 2, endedAtMs: 5, receipt: new Uint8Array() },
    ...{ workerSignature: Uint8Array.of(9), gatewaySignature: undefined },
  });
  await store.advisories.putScores([{ cve: 'CVE-2024-0001', epss: 0.123456789, percentile: 1 / 3 }]);
  const { stored } = await store.keys.create({ tier: 'free', label: HOSTILE });
  await store.quota.take(stored.id, '2026-01-01', 50);
  await store.stream.begin(0, 1);
  const event = { type: 't', domain: null, providers: [], category: null, body: HOSTILE };
  await store.stream.append(
    [1, 2, 3].map((publishedUs) => ({ ...event, publishedUs })),
    { from: 0, to: 1 },
  );
  await store.stream.prune(3, 10);
  await store.stream.prune(4, 10);
}

const told = async (store: Store) => ({
  counts: await store.counts(),
  profile: await store.domain('d7.com'),
  changes: await store.changes('d7.com', { limit: 10, offset: 0 }),
  events: await store.eventsSince(0, 5_000),
  due: await store.due(new Date('2027-01-01'), 5_000),
  id: await store.feed.storeId(),
  keys: await store.keys.list(),
  named: await store.feeds.mentions.feedsNaming('x.com', 10),
  segments: await store.segments.list({ limit: 10 }),
  scans: (await store.feed.scansSince(0, 5_000)).map((scan) => ({ ...scan })),
});

describe('a store copied to PostgreSQL', { skip: binaries ? false : notice }, async () => {
  const server = await startPostgres();
  const directory = mkdtempSync(path.join(tmpdir(), 'strata-copy-'));
  after(async () => {
    await server[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
  });
  const file = path.join(directory, 'strata.db');
  await fill(`sqlite:${file}`);

  it('answers as it did, and goes on with the numbers that come next', async () => {
    const url = await server.fresh();
    const seen = new Set<string>();
    const tables = await copyToPostgres(file, url, {
      onProgress: ({ table, isComparing }) => void seen.add(`${table} ${isComparing}`),
    });
    assert.ok(seen.has('scans false') && seen.has('scans true'));
    using database = new DatabaseSync(file);
    for (const { table, rows } of tables)
      assert.equal(rows, database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n, table);
    assert.equal(tables.find(({ table }) => table === 'scans')?.rows, 2_100);
    await using before = await openStore(`sqlite:${file}`);
    await using now = await openStore(url);
    assert.deepEqual(await told(now), await told(before));
    assert.equal(
      (await now.feeds.list({ after: 0, limit: 1 }))[0]?.state.error,
      'with a NUL \ufffd',
      'PostgreSQL keeps none',
    );
    for (const store of [before, now]) {
      await store.recordScan(scanOf('new.com', '2026-02-01T00:00:00.000Z', GOOGLE), confirm);
      const [next] =
        (await store.stream.append(
          [{ publishedUs: 9, type: 't', domain: null, providers: [], category: null, body: '' }],
          { from: 1, to: 2 },
        )) ?? [];
      assert.equal(next?.seq, 4, 'a number of a row that is gone does not come back');
    }
    assert.deepEqual(await told(now), await told(before));
  });

  it('is whole or empty: stopped on the way, it can be begun again', async () => {
    const url = await server.fresh();
    const stopping = new AbortController();
    const onProgress = ({ table }: { readonly table: string }) =>
      table === 'scans' && stopping.abort(new Error('stopped'));
    await assert.rejects(copyToPostgres(file, url, { onProgress, signal: stopping.signal }), /stopped/);
    {
      await using store = await openStore(url);
      assert.equal((await store.counts()).domains, 0);
    }
    await copyToPostgres(file, url);
    await assert.rejects(copyToPostgres(file, url), { name: 'StoreError', code: 'not-empty' });
  });

  it('is not taken over where what is read again differs', async () => {
    const url = await server.fresh();
    await (await openStore(url))[Symbol.asyncDispose]();
    const name = new URL(url).pathname.slice(1);
    await server.sql(
      `create function worse() returns trigger language plpgsql as 'begin new.source = ''x''; return new; end';
       create trigger worse before insert on domains for each row when (new.id = 5) execute function worse()`,
      name,
    );
    await assert.rejects(copyToPostgres(file, url), { name: 'StoreError', code: 'copy-differs' });
    await using store = await openStore(url);
    assert.equal((await store.counts()).domains, 0);
  });
});
