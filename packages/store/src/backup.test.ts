// A store copied while others write to it, and back again: the same answers, numbers that do not come back, all or nothing.
import assert from 'node:assert/strict';
import { chmodSync, copyFileSync, existsSync, openSync, readdirSync, statSync, writeSync } from 'node:fs';
import path from 'node:path';
import { after, it } from 'node:test';
import {
  backupSqlite,
  checkSqliteCopy,
  digestOfRows,
  dumpPostgres,
  loadPostgres,
  openStore,
  receiptsInRows,
  receiptsInSqliteCopy,
  type Store,
  type StoreCopy,
  settleSqlite,
} from './index.ts';
import { failsWith } from './test/fails-with.ts';
import { contentsOf, fill, RECEIPT } from './test/filled-store.ts';
import { file, freshPath, onEach, pathOf, postgres } from './test/places.ts';
import { confirm, day, GOOGLE, scanOf } from './test/scans.ts';
import { makeOld } from './test/upgrade.ts';

/** The restored store answers as the one before did, is another, and goes on after every number that was given. */
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
      const said = await copy();
      const rows = (name: string) => said.tables.find(({ table }) => table === name)?.rows ?? 0;
      assert.ok(rows('scans') >= acknowledged, `${rows('scans')} of ${acknowledged}`);
      // Each scan of a new domain is a domain, its scan and its event, or nothing.
      assert.deepEqual([rows('domains') - 1, rows('evidence')], [rows('scans'), rows('scans')]);
    }
  } finally {
    stopping.abort();
    await writing;
  }
}

onEach([file], 'a backup of a store', ({ fresh }) => {
  const opened = async () => {
    const url = await fresh();
    return { file: pathOf(url) ?? '', copy: freshPath(), store: await openStore(url) };
  };

  it('answers as the store did, and is another that goes on', async () => {
    const { file, copy, store } = await opened();
    await using _store = store;
    await fill(store);
    const seen: number[] = [];
    const said = await backupSqlite(file, copy, { onProgress: ({ bytes }) => void seen.push(bytes) });
    assert.equal(said.tables.find(({ table }) => table === 'scans')?.rows, 300);
    assert.equal(seen.at(-1), statSync(copy).size);
    checkSqliteCopy(copy, said);
    assert.deepEqual(new Set(receiptsInSqliteCopy(copy)), new Set([RECEIPT]));
    const beside = readdirSync(path.dirname(copy)).filter((name) => name.startsWith(path.basename(copy)));
    assert.deepEqual(beside, [path.basename(copy)], 'one whole file');

    // Damaged, or other than it was.
    const other = { ...said, tables: said.tables.map((each) => ({ ...each, rows: each.rows + 1 })) };
    assert.throws(() => checkSqliteCopy(copy, other), failsWith('copy-differs'));
    const damaged = freshPath();
    copyFileSync(copy, damaged);
    const handle = openSync(damaged, 'r+');
    for (let page = 4; page < 40; page += 1) writeSync(handle, Buffer.alloc(500, 0xa5), 0, 500, page * 4_096);
    assert.throws(() => checkSqliteCopy(damaged, said), failsWith('corrupt'));
    chmodSync(copy, 0o400);
    checkSqliteCopy(copy, said);
    chmodSync(copy, 0o600);

    settleSqlite(copy);
    await using restored = await openStore(`sqlite:${copy}`);
    await assertRestored(restored, store);
  });

  it('is of one moment while another process of writers goes on', async () => {
    const { file, store } = await opened();
    await using _store = store;
    await fill(store);
    await copyWhileWriting(store, 5, async () => {
      const copy = freshPath();
      const said = await backupSqlite(file, copy);
      checkSqliteCopy(copy, said);
      return said;
    });
  });

  it('leaves nothing when it is stopped, and says what it cannot copy', async () => {
    const { file, copy, store } = await opened();
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
  const into = async (table: string, rows: AsyncIterable<Uint8Array>) => {
    const pieces: Uint8Array[] = [];
    for await (const piece of rows) pieces.push(piece);
    parts.set(table, Buffer.concat(pieces));
  };
  const nowhere = async (_table: string, rows: AsyncIterable<Uint8Array>) => {
    for await (const _ of rows);
  };
  async function* outOf(table: string): AsyncGenerator<Uint8Array> {
    const text = parts.get(table) ?? Buffer.alloc(0);
    for (let at = 0; at < text.length; at += 1_000) yield text.subarray(at, at + 1_000);
  }
  let filled: { url: string; store: Store; said: StoreCopy } | undefined;
  const dumped = async () => {
    if (filled) return filled;
    const url = await fresh();
    const store = await openStore(url);
    await fill(store);
    filled = { url, store, said: await dumpPostgres(url, into) };
    return filled;
  };
  after(async () => filled?.store[Symbol.asyncDispose]());

  it('answers as the store did, and is another that goes on', async () => {
    const { store, said } = await dumped();
    for (const { table, rows, sha256 } of said.tables)
      assert.deepEqual(await digestOfRows(outOf(table)), { rows, sha256 });
    assert.deepEqual(new Set(await receiptsInRows(outOf('stream_events'))), new Set([RECEIPT]));
    const url = await empty();
    await loadPostgres(url, said, outOf);
    await using restored = await openStore(url);
    await assertRestored(restored, store);
    const again = await dumpPostgres(url, nowhere);
    const segments = (copy: StoreCopy) => copy.tables.find(({ table }) => table === 'segments')?.sha256;
    assert.equal(segments(again), segments(said));
  });

  it('is of one moment while writers go on', async () => {
    const { url, store } = await dumped();
    await copyWhileWriting(store, 3, () => dumpPostgres(url, nowhere));
  });

  it('goes into an empty database alone, and whole or not at all', async () => {
    const { said } = await dumped();
    const url = await empty();
    const stopping = new AbortController();
    const onProgress = ({ table }: { table: string }) => table === 'scans' && stopping.abort(new Error('stopped'));
    await assert.rejects(loadPostgres(url, said, outOf, { onProgress, signal: stopping.signal }), /stopped/);
    const other = { ...said, tables: said.tables.map((each) => ({ ...each, sha256: '0'.repeat(64) })) };
    await assert.rejects(loadPostgres(url, other, outOf), failsWith('copy-differs'));
    await assert.rejects(loadPostgres(url, { ...said, schema: '999-later' }, outOf), failsWith('newer-version'));
    await loadPostgres(url, said, outOf);
    await assert.rejects(loadPostgres(url, said, outOf), failsWith('not-empty'));
  });

  it('of an older version is brought up to date', async () => {
    const [older, url] = [await empty(), await empty()];
    await makeOld(older, '003-changes-by-category');
    const said = await dumpPostgres(older, into);
    assert.equal(said.schema, '003-changes-by-category');
    await loadPostgres(url, said, outOf);
    await using restored = await openStore(url);
    assert.deepEqual(await restored.due(new Date(day(1)), 10), ['waiting.com']);
    assert.deepEqual(await restored.feeds.list({ after: 0, limit: 1 }), []);
  });
});
