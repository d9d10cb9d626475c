// Copies of a store under writes, and restores: the same data, numbers that are not reused, atomicity.
import assert from 'node:assert/strict';
import { chmodSync, copyFileSync, existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import * as db from '@strata/db';
import { repeatDuring } from '../../../../tests/support/until.ts';
import { openStore, receiptsInRows, receiptsInSqliteCopy, restorePostgres, type Store, stackSchema } from './index.ts';
import { damage, exec, failsWith, file, freshPath, onEach, pathOf, postgres, rows } from './test/backends.ts';
import { A, recordPoll, subscribed } from './test/feed-store.ts';
import { poll, streamEvent } from './test/records.ts';
import { confirm, day, GOOGLE, recordScan, scanOf } from './test/scans.ts';
import { makeOld } from './test/upgrade.ts';

const { backupSqlite, checkSqliteCopy, copyStore, digestOfRows, dumpPostgres, prepareRestoredSqlite } = db;

const HOSTILE = 'a\tb\nc\r\\d\\N "e" \u{1f600} é\u0301 \\x00';
const RECEIPT = `cr_${'a'.repeat(32)}`;

/** Every kind of value, and a number of scanned domains. */
async function fill(store: Store, { domains = 300, times = 1 } = {}): Promise<void> {
  const scans = Array.from({ length: domains * times }, (_, i) =>
    scanOf(`d${i % domains}.com`, day(Math.floor(i / domains)), GOOGLE),
  );
  await store.recordScans(scans, confirm);
  await store.domains.add(['waiting.com'], { source: HOSTILE });
  const [a = 0] = await subscribed(store, A);
  const items = [{ key: HOSTILE, domains: ['x.com', 'y.com'] } as const, { key: '2', domains: ['x.com'] } as const];
  await recordPoll(store, a, poll(A, items, { title: HOSTILE, error: 'with a NUL \0' }));
  await store.advisories.putScores([{ cve: 'CVE-2024-0001', epss: 0.123456789, percentile: 1 / 3 }]);
  const { stored } = await store.keys.create({ tier: 'free', label: HOSTILE });
  await store.quota.take(stored.id, '2026-01-01', 50);
  await store.stream.begin(0, 1);
  const body = JSON.stringify({ text: HOSTILE, provenance: { ledger_receipt_id: RECEIPT } });
  const events = [1, 2, 3].map((publishedUs) => streamEvent(publishedUs, { domain: null, body }));
  await store.stream.append(events, { from: 0, to: 1 });
}

const contentsOf = async (store: Store) => ({
  counts: await store.inspection.counts(),
  profile: await store.domains.profile('d7.com'),
  changes: await store.domains.changes('d7.com', { limit: 10, offset: 0 }),
  events: await store.events.since(0, 5_000),
  due: await store.domains.due(new Date('2027-01-01'), 5_000),
  keys: await store.keys.list(),
  named: await store.feeds.mentions.feedsNaming('x.com', 10),
  stream: await store.stream.since(0, 10),
  scans: (await store.feed.scansSince(0, 5_000)).map((scan) => ({ ...scan })),
});

const rowsOf = (copy: db.StoreCopy, name: string) => copy.tables.find(({ table }) => table === name)?.rows ?? 0;

/** The restored store answers as the original did, is another store, and continues after every number that was given. */
async function assertRestored(now: Store, before: Store): Promise<void> {
  assert.deepEqual(await contentsOf(now), await contentsOf(before));
  assert.notEqual(await now.feed.storeId(), await before.feed.storeId());
  const last = await before.events.latestSeq();
  await recordScan(now, scanOf('new.com', day(1), GOOGLE), confirm);
  assert.ok((await now.events.latestSeq()) > last + 1_000_000);
  assert.equal((await now.inspection.counts()).domains, 302);
}

/** Copies again and again while a store is written to: fails unless each copy is of one moment. */
async function copyWhileWriting(store: Store, rounds: number, copy: () => Promise<db.StoreCopy>) {
  const copying = async () => {
    for (let round = 0; round < rounds; round += 1) {
      const acknowledged = (await store.inspection.counts()).scans;
      const copied = await copy();
      const scans = rowsOf(copied, 'scans');
      assert.ok(scans >= acknowledged, `${scans} of ${acknowledged}`);
      // Each scan of a new domain is a domain, its scan and its event, or nothing.
      assert.deepEqual([rowsOf(copied, 'domains') - 1, rowsOf(copied, 'evidence')], [scans, scans]);
    }
  };
  let written = 0;
  await repeatDuring(copying(), async () => {
    await recordScan(store, scanOf(`w${written++}.com`, day(0), GOOGLE), confirm);
    await new Promise(setImmediate);
  });
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

/** Stops a copy at the first progress, or at a table. */
function stoppedAt(at?: string) {
  const stop = new AbortController();
  const onProgress = ({ table }: { table?: string; bytes?: number }) => table === at && stop.abort(Error('stopped'));
  return { onProgress, signal: stop.signal };
}

onEach([file], 'a backup of a store', (_backend, test) => {
  test('returns the same data as the store, and is independent of it', async (store, url) => {
    const copy = freshPath();
    await fill(store);
    const progress: number[] = [];
    const onProgress = ({ bytes }: { bytes: number }) => void progress.push(bytes);
    const copied = await backupSqlite(pathOf(url) ?? '', copy, { onProgress });
    assert.deepEqual([rowsOf(copied, 'scans'), progress.at(-1)], [300, statSync(copy).size]);
    checkSqliteCopy(copy, copied);
    assert.deepEqual(new Set(receiptsInSqliteCopy(copy)), new Set([RECEIPT]));
    const written = readdirSync(path.dirname(copy)).filter((name) => name.startsWith(path.basename(copy)));
    assert.deepEqual(written, [path.basename(copy)], 'one complete file');
    // Damaged or altered.
    const other = { ...copied, tables: copied.tables.map((each) => ({ ...each, rows: each.rows + 1 })) };
    assert.throws(() => checkSqliteCopy(copy, other), failsWith('copy-differs'));
    const damaged = freshPath();
    copyFileSync(copy, damaged);
    damage(damaged, [4, 40]);
    assert.throws(() => checkSqliteCopy(damaged, copied), failsWith('corrupt'));
    chmodSync(copy, 0o400);
    checkSqliteCopy(copy, copied);
    chmodSync(copy, 0o600);
    prepareRestoredSqlite(stackSchema, copy);
    await using restored = await openStore(`sqlite:${copy}`);
    await assertRestored(restored, store);
  });

  test('is of one moment while the store is written to', async (store, url) => {
    await fill(store);
    await copyWhileWriting(store, 5, async () => {
      const copy = freshPath();
      const copied = await backupSqlite(pathOf(url) ?? '', copy);
      checkSqliteCopy(copy, copied);
      return copied;
    });
  });

  test('leaves nothing when it is stopped, and refuses what it cannot copy', async (store, url) => {
    const [file, copy] = [pathOf(url) ?? '', freshPath()];
    await store[Symbol.asyncDispose]();
    await assert.rejects(backupSqlite(file, copy, stoppedAt()), /stopped/);
    assert.ok(!existsSync(copy));
    await assert.rejects(backupSqlite(freshPath(), copy), failsWith('cannot-open'));
    await assert.rejects(backupSqlite(file, file), /already exists/);
  });
});

onEach([postgres], 'a backup of a store', ({ fresh, empty }) => {
  const parts = new Map<string, Buffer>();
  const into = async (table: string, rows: AsyncIterable<Uint8Array>) =>
    void parts.set(table, Buffer.concat(await Array.fromAsync(rows)));
  const nowhere = async (_table: string, rows: AsyncIterable<Uint8Array>) => {
    for await (const _ of rows);
  };
  async function* outOf(table: string): AsyncGenerator<Uint8Array> {
    const text = parts.get(table) ?? Buffer.alloc(0);
    for (let at = 0; at < text.length; at += 1_000) yield text.subarray(at, at + 1_000);
  }
  const dumped = once(async () => {
    const url = await fresh();
    await using store = await openStore(url);
    await fill(store);
    return { url, copied: await dumpPostgres(stackSchema, url, into) };
  });

  it('returns the same data as the store, and is independent of it', async () => {
    const { url: original, copied } = await dumped();
    await using store = await openStore(original);
    for (const { table, rows, sha256 } of copied.tables)
      assert.deepEqual(await digestOfRows(outOf(table)), { rows, sha256 });
    assert.deepEqual(new Set(await receiptsInRows(outOf('stream_events'))), new Set([RECEIPT]));
    const url = await empty();
    await restorePostgres(url, copied, outOf);
    await using restored = await openStore(url);
    await assertRestored(restored, store);
    const items = (copy: db.StoreCopy) => copy.tables.find(({ table }) => table === 'feed_items')?.sha256;
    assert.equal(items(await dumpPostgres(stackSchema, url, nowhere)), items(copied));
  });

  it('is of one moment while the store is written to', async () => {
    const { url } = await dumped();
    await using store = await openStore(url);
    await copyWhileWriting(store, 3, () => dumpPostgres(stackSchema, url, nowhere));
  });

  it('is loaded into an empty database only, and completely or not at all', async () => {
    const { copied } = await dumped();
    const url = await empty();
    await assert.rejects(restorePostgres(url, copied, outOf, stoppedAt('scans')), /stopped/);
    const other = { ...copied, tables: copied.tables.map((each) => ({ ...each, sha256: '0'.repeat(64) })) };
    await assert.rejects(restorePostgres(url, other, outOf), failsWith('copy-differs'));
    await assert.rejects(restorePostgres(url, { ...copied, schema: '999-later' }, outOf), failsWith('newer-version'));
    await restorePostgres(url, copied, outOf);
    await assert.rejects(restorePostgres(url, copied, outOf), failsWith('not-empty'));
  });

  it('of an older version is brought up to date', async () => {
    const [older, url] = [await empty(), await empty()];
    await makeOld(older, '003-changes-by-category');
    const copied = await dumpPostgres(stackSchema, older, into);
    assert.equal(copied.schema, '003-changes-by-category');
    // As every copy until version 018: with empty tables of other services, which are left out.
    const standings = { table: 'standings', rows: 0, columns: ['peer', 'standing'], sha256: '' };
    await restorePostgres(url, { ...copied, tables: [standings, ...copied.tables] }, outOf);
    await using restored = await openStore(url);
    assert.deepEqual(await restored.domains.due(new Date(day(1)), 10), ['waiting.com']);
    assert.deepEqual(await restored.feeds.list({ after: 0, limit: 1 }), []);
  });
});

/** With more rows than a page of the copy. */
const filledFile = once(async () => {
  const path = freshPath();
  await using store = await openStore(`sqlite:${path}`);
  await fill(store, { domains: 700, times: 3 });
  await store.stream.prune(3, 10);
  await store.stream.prune(4, 10);
  return path;
});

onEach([postgres], 'a copied store', ({ empty }) => {
  const fileUrl = () => `sqlite:${freshPath()}`;

  it('returns the same data there and back again, and continues with the next numbers', async () => {
    const [file, url, back] = [`sqlite:${await filledFile()}`, await empty(), fileUrl()];
    const progress = new Set<string>();
    for (const [source, target] of [[file, url] as const, [url, back] as const]) {
      const tables = await copyStore(stackSchema, source, target, {
        onProgress: ({ table, isComparing }) => void progress.add(`${table} ${isComparing}`),
      });
      for (const { table, rows: copied } of tables)
        for (const each of [source, target])
          assert.equal(Number((await rows(each, `SELECT count(*) AS n FROM ${table}`))[0]?.n), copied, table);
      assert.equal(tables.find(({ table }) => table === 'scans')?.rows, 2_100);
    }
    assert.ok(progress.has('scans false') && progress.has('scans true'));
    await using before = await openStore(file);
    await using there = await openStore(url);
    await using again = await openStore(back);
    const [feed] = await again.feeds.list({ after: 0, limit: 1 });
    assert.equal(feed?.state.error, 'with a NUL \ufffd', 'PostgreSQL keeps none');
    const assertSame = async () => {
      for (const store of [there, again]) {
        assert.deepEqual(await contentsOf(store), await contentsOf(before));
        assert.equal(await store.feed.storeId(), await before.feed.storeId());
      }
    };
    await assertSame();
    for (const store of [before, there, again]) {
      await recordScan(store, scanOf('new.com', '2026-02-01T00:00:00.000Z', GOOGLE), confirm);
      const [next] = (await store.stream.append([streamEvent(9)], { from: 1, to: 2 })) ?? [];
      assert.equal(next?.seq, 4, 'a number of a deleted row does not come back');
    }
    await assertSame();
    await assert.rejects(copyStore(stackSchema, fileUrl(), url), failsWith('cannot-open'));
  });

  it('is not taken from a database in use, whose schema stays, nor from one that is used before the end', async () => {
    const [bare, url, back] = [await empty(), await empty(), fileUrl()];
    const pools = [bare, url].map((each) => db.openPool(each, { poolSize: 1 }));
    await pools[0]?.query('select 1');
    await assert.rejects(copyStore(stackSchema, bare, back), failsWith('in-use'));
    await assert.rejects(rows(bare, 'select 1 from domains'), /domains/);
    await copyStore(stackSchema, `sqlite:${await filledFile()}`, url);
    const onProgress = once(async () => pools[1]?.query('select 1'));
    await assert.rejects(copyStore(stackSchema, url, back, { onProgress }), failsWith('in-use'));
    assert.deepEqual(await rows(back, 'select id from domains'), []);
    await Promise.all(pools.map((pool) => pool.end()));
  });

  it('does not block the process between two pages of a file', async () => {
    const events: string[] = [];
    const onProgress = () => events.push('page') && setImmediate(() => events.push('turn'));
    await copyStore(stackSchema, `sqlite:${await filledFile()}`, fileUrl(), { onProgress });
    assert.ok(!events.join(' ').includes('page page'));
  });

  it('is complete or empty: stopped, it can be begun again', async () => {
    const [file, url, back] = [`sqlite:${await filledFile()}`, await empty(), fileUrl()];
    const worse = {
      [url]: [
        `create function worse() returns trigger language plpgsql as 'begin new.source = ''x''; return new; end';
         create trigger worse before insert on domains for each row when (new.id = 5) execute function worse()`,
        'drop trigger worse on domains',
      ],
      [back]: [
        `create trigger worse after insert on domains when new.id = 5 begin update domains set source = 'x' where id = 5; end`,
        'drop trigger worse',
      ],
    } as const;
    for (const [source, target] of [[file, url] as const, [url, back] as const]) {
      await assert.rejects(copyStore(stackSchema, source, target, stoppedAt('scans')), /stopped/);
      assert.deepEqual(await rows(target, 'select id from domains'), []);
      // The read-back differs: the copy is rejected.
      await exec(target, worse[target]?.[0] ?? '');
      await assert.rejects(copyStore(stackSchema, source, target), failsWith('copy-differs'));
      assert.deepEqual(await rows(target, 'select id from domains'), []);
      await exec(target, worse[target]?.[1] ?? '');
      await copyStore(stackSchema, source, target);
      await assert.rejects(copyStore(stackSchema, source, target), failsWith('not-empty'));
    }
  });
});
