// A store copied while it is written to, and restored: the same answers, numbers that do not come back, all or nothing.
import assert from 'node:assert/strict';
import { chmodSync, copyFileSync, existsSync, openSync, readdirSync, statSync, writeSync } from 'node:fs';
import path from 'node:path';
import { after, it } from 'node:test';
import * as copies from './index.ts';
import { failsWith } from './test/fails-with.ts';
import { contentsOf, fill, RECEIPT } from './test/filled-store.ts';
import { file, freshPath, onEach, pathOf, postgres } from './test/places.ts';
import { confirm, day, GOOGLE, scanOf } from './test/scans.ts';
import { makeOld } from './test/upgrade.ts';

const { backupSqlite, checkSqliteCopy, dumpPostgres, loadPostgres, openStore } = copies;
type Store = copies.Store;
type StoreCopy = copies.StoreCopy;

const rowsOf = (copy: StoreCopy, name: string) => copy.tables.find(({ table }) => table === name)?.rows ?? 0;

/** The restored store answers as the original did, is another store, and continues after every number that was given. */
async function assertRestored(now: Store, before: Store): Promise<void> {
  assert.deepEqual(await contentsOf(now), await contentsOf(before));
  assert.notEqual(await now.feed.storeId(), await before.feed.storeId());
  const last = await before.latestSeq();
  await now.recordScan(scanOf('new.com', day(1), GOOGLE), confirm);
  assert.ok((await now.latestSeq()) > last + 1_000_000);
  assert.equal((await now.counts()).domains, 302);
}

/** Copies again and again while a store is written to: fails unless each copy is of one moment. */
async function copyWhileWriting(store: Store, rounds: number, copy: () => Promise<StoreCopy>): Promise<void> {
  const stopping = new AbortController();
  const writing = (async () => {
    for (let i = 0; !stopping.signal.aborted; i += 1) {
      await store.recordScan(scanOf(`w${i}.com`, day(0), GOOGLE), confirm);
      await new Promise(setImmediate);
    }
  })();
  try {
    for (let round = 0; round < rounds; round += 1) {
      const acknowledged = (await store.counts()).scans;
      const copied = await copy();
      const scans = rowsOf(copied, 'scans');
      assert.ok(scans >= acknowledged, `${scans} of ${acknowledged}`);
      // Each scan of a new domain is a domain, its scan and its event, or nothing.
      assert.deepEqual([rowsOf(copied, 'domains') - 1, rowsOf(copied, 'evidence')], [scans, scans]);
    }
  } finally {
    stopping.abort();
    await writing;
  }
}

onEach([file], 'a backup of a store', (_place, test) => {
  test('answers as the store did, and is another that goes on', async (store, url) => {
    const copy = freshPath();
    await fill(store);
    const progress: number[] = [];
    const copied = await backupSqlite(pathOf(url) ?? '', copy, {
      onProgress: ({ bytes }) => void progress.push(bytes),
    });
    assert.equal(rowsOf(copied, 'scans'), 300);
    assert.equal(progress.at(-1), statSync(copy).size);
    checkSqliteCopy(copy, copied);
    assert.deepEqual(new Set(copies.receiptsInSqliteCopy(copy)), new Set([RECEIPT]));
    const written = readdirSync(path.dirname(copy)).filter((name) => name.startsWith(path.basename(copy)));
    assert.deepEqual(written, [path.basename(copy)], 'one complete file');

    // Damaged, or other than it was.
    const other = { ...copied, tables: copied.tables.map((each) => ({ ...each, rows: each.rows + 1 })) };
    assert.throws(() => checkSqliteCopy(copy, other), failsWith('copy-differs'));
    const damaged = freshPath();
    copyFileSync(copy, damaged);
    const handle = openSync(damaged, 'r+');
    for (let page = 4; page < 40; page += 1) writeSync(handle, Buffer.alloc(500, 0xa5), 0, 500, page * 4_096);
    assert.throws(() => checkSqliteCopy(damaged, copied), failsWith('corrupt'));
    chmodSync(copy, 0o400);
    checkSqliteCopy(copy, copied);
    chmodSync(copy, 0o600);

    copies.settleSqlite(copy);
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
    const stopping = new AbortController();
    const onProgress = () => stopping.abort(new Error('stopped'));
    await assert.rejects(backupSqlite(file, copy, { onProgress, signal: stopping.signal }), /stopped/);
    assert.ok(!existsSync(copy));
    await assert.rejects(backupSqlite(freshPath(), copy), failsWith('cannot-open'));
    await assert.rejects(backupSqlite(file, file), /there already/);
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
  let filled: { url: string; store: Store; copied: StoreCopy } | undefined;
  const dumped = async () => {
    if (filled) return filled;
    const url = await fresh();
    const store = await openStore(url);
    await fill(store);
    filled = { url, store, copied: await dumpPostgres(url, into) };
    return filled;
  };
  after(async () => filled?.store[Symbol.asyncDispose]());

  it('answers as the store did, and is another that goes on', async () => {
    const { store, copied } = await dumped();
    for (const { table, rows, sha256 } of copied.tables)
      assert.deepEqual(await copies.digestOfRows(outOf(table)), { rows, sha256 });
    assert.deepEqual(new Set(await copies.receiptsInRows(outOf('stream_events'))), new Set([RECEIPT]));
    const url = await empty();
    await loadPostgres(url, copied, outOf);
    await using restored = await openStore(url);
    await assertRestored(restored, store);
    const again = await dumpPostgres(url, nowhere);
    const segments = (copy: StoreCopy) => copy.tables.find(({ table }) => table === 'segments')?.sha256;
    assert.equal(segments(again), segments(copied));
  });

  it('is of one moment while the store is written to', async () => {
    const { url, store } = await dumped();
    await copyWhileWriting(store, 3, () => dumpPostgres(url, nowhere));
  });

  it('is loaded into an empty database only, and completely or not at all', async () => {
    const { copied } = await dumped();
    const url = await empty();
    const stopping = new AbortController();
    const onProgress = ({ table }: { table: string }) => table === 'scans' && stopping.abort(new Error('stopped'));
    await assert.rejects(loadPostgres(url, copied, outOf, { onProgress, signal: stopping.signal }), /stopped/);
    const other = { ...copied, tables: copied.tables.map((each) => ({ ...each, sha256: '0'.repeat(64) })) };
    await assert.rejects(loadPostgres(url, other, outOf), failsWith('copy-differs'));
    await assert.rejects(loadPostgres(url, { ...copied, schema: '999-later' }, outOf), failsWith('newer-version'));
    await loadPostgres(url, copied, outOf);
    await assert.rejects(loadPostgres(url, copied, outOf), failsWith('not-empty'));
  });

  it('of an older version is brought up to date', async () => {
    const [older, url] = [await empty(), await empty()];
    await makeOld(older, '003-changes-by-category');
    const copied = await dumpPostgres(older, into);
    assert.equal(copied.schema, '003-changes-by-category');
    await loadPostgres(url, copied, outOf);
    await using restored = await openStore(url);
    assert.deepEqual(await restored.due(new Date(day(1)), 10), ['waiting.com']);
    assert.deepEqual(await restored.feeds.list({ after: 0, limit: 1 }), []);
  });
});
