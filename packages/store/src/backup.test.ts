// A store copied while others write to it, and back again: the same answers, numbers that do not come back, all or nothing.
import assert from 'node:assert/strict';
import { chmodSync, copyFileSync, existsSync, openSync, readdirSync, statSync, writeSync } from 'node:fs';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { Kysely } from 'kysely';
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
import { migrateTo } from './migrations/index.ts';
import { openPool, postgresDialect } from './postgres-dialect.ts';
import type { Database } from './schema.ts';
import { failsWith } from './test/fails-with.ts';
import { freshPath, postgresServer } from './test/places.ts';
import { binaries, notice } from './test/postgres.ts';
import { confirm, day, GOOGLE, scanOf } from './test/scans.ts';

const HOSTILE = 'a\tb\nc\r\\d\\N "e" \u{1f600} é\u0301 \\x00';
const RECEIPT = `cr_${'a'.repeat(32)}`;

async function fill(store: Store): Promise<void> {
  for (let i = 0; i < 300; i += 1) await store.recordScan(scanOf(`d${i}.com`, day(0), GOOGLE), confirm);
  await store.addDomains(['waiting.com'], { source: HOSTILE });
  await store.segments.put({
    ...{ nonce: Uint8Array.of(0, 255, 92, 10), worker: 'w', gateway: 'g', caller: undefined, modelSha256: 'a' },
    ...{ promptTokens: 1, cachedTokens: 0, outputTokens: 2, endedAtMs: 5, receipt: new Uint8Array() },
    ...{ workerSignature: Uint8Array.of(9), gatewaySignature: undefined },
  });
  await store.advisories.putScores([{ cve: 'CVE-2024-0001', epss: 0.123456789, percentile: 1 / 3 }]);
  const { stored } = await store.keys.create({ tier: 'free', label: HOSTILE });
  await store.quota.take(stored.id, '2026-01-01', 50);
  await store.stream.begin(0, 1);
  const body = JSON.stringify({ text: HOSTILE, provenance: { ledger_receipt_id: RECEIPT } });
  await store.stream.append([{ publishedUs: 1, type: 't', domain: null, providers: [], category: null, body }], {
    from: 0,
    to: 1,
  });
}

const told = async (store: Store) => ({
  counts: await store.counts(),
  profile: await store.domain('d7.com'),
  events: await store.eventsSince(0, 5_000),
  due: await store.due(new Date('2027-01-01'), 5_000),
  keys: await store.keys.list(),
  segments: await store.segments.list({ limit: 10 }),
  stream: await store.stream.since(0, 10),
  scans: (await store.feed.scansSince(0, 5_000)).map((scan) => ({ ...scan })),
});

/** The restored store answers as the one before did, is another, and goes on after every number that was given. */
async function isRestored(now: Store, before: Store): Promise<void> {
  assert.deepEqual(await told(now), await told(before));
  assert.notEqual(await now.feed.storeId(), await before.feed.storeId());
  const last = await before.latestSeq();
  await now.recordScan(scanOf('new.com', day(1), GOOGLE), confirm);
  assert.ok((await now.latestSeq()) > last + 1_000_000);
  assert.equal((await now.counts()).domains, 302);
}

describe('a backup of a SQLite store', () => {
  it('answers as the store did, and is another that goes on', async () => {
    const [file, copy] = [freshPath(), freshPath()];
    await using store = await openStore(`sqlite:${file}`);
    await fill(store);
    const seen: number[] = [];
    const said = await backupSqlite(file, copy, { onProgress: ({ bytes }) => void seen.push(bytes) });
    assert.equal(said.tables.find(({ table }) => table === 'scans')?.rows, 300);
    assert.equal(seen.at(-1), statSync(copy).size);
    checkSqliteCopy(copy, said);
    assert.deepEqual(receiptsInSqliteCopy(copy), [RECEIPT]);
    const beside = readdirSync(path.dirname(copy)).filter((name) => name.startsWith(path.basename(copy)));
    assert.deepEqual(beside, [path.basename(copy)], 'one whole file');
    settleSqlite(copy);
    await using restored = await openStore(`sqlite:${copy}`);
    await isRestored(restored, store);
  });

  it('is of one moment while another process of writers goes on', async () => {
    const file = freshPath();
    await using store = await openStore(`sqlite:${file}`);
    await fill(store);
    const stopping = new AbortController();
    const writing = (async () => {
      for (let i = 0; !stopping.signal.aborted; i += 1) {
        await store.recordScan(scanOf(`w${i}.com`, day(0), GOOGLE), confirm);
        await new Promise(setImmediate);
      }
    })();
    try {
      for (let round = 0; round < 5; round += 1) {
        const acknowledged = (await store.counts()).scans;
        const copy = freshPath();
        const said = await backupSqlite(file, copy);
        const rows = (name: string) => said.tables.find(({ table }) => table === name)?.rows ?? 0;
        assert.ok(rows('scans') >= acknowledged, `${rows('scans')} of ${acknowledged}`);
        // Each scan of a new domain is a domain, its scan and its event, or nothing.
        assert.deepEqual([rows('domains') - 1, rows('evidence')], [rows('scans'), rows('scans')]);
        checkSqliteCopy(copy, said);
      }
    } finally {
      stopping.abort();
      await writing;
    }
  });

  it('leaves nothing when it is stopped, and says what it cannot copy', async () => {
    const [file, copy] = [freshPath(), freshPath()];
    await (await openStore(`sqlite:${file}`))[Symbol.asyncDispose]();
    const stopping = new AbortController();
    const onProgress = () => stopping.abort(new Error('stopped'));
    await assert.rejects(backupSqlite(file, copy, { onProgress, signal: stopping.signal }), /stopped/);
    assert.ok(!existsSync(copy));
    await assert.rejects(backupSqlite(freshPath(), copy), failsWith('cannot-open'));
    await assert.rejects(backupSqlite(file, file), /there already/);
  });

  it('is found to be damaged, or other than it was', async () => {
    const [file, copy] = [freshPath(), freshPath()];
    await using store = await openStore(`sqlite:${file}`);
    await fill(store);
    const said = await backupSqlite(file, copy);
    const other = { ...said, tables: said.tables.map((each) => ({ ...each, rows: each.rows + 1 })) };
    assert.throws(() => checkSqliteCopy(copy, other), failsWith('copy-differs'));
    const damaged = freshPath();
    copyFileSync(copy, damaged);
    const handle = openSync(damaged, 'r+');
    for (let page = 4; page < 40; page += 1) writeSync(handle, Buffer.alloc(500, 0xa5), 0, 500, page * 4_096);
    assert.throws(() => checkSqliteCopy(damaged, said), failsWith('corrupt'));
    chmodSync(copy, 0o400);
    checkSqliteCopy(copy, said);
  });
});

describe('a backup of a PostgreSQL store', { skip: binaries ? false : notice }, () => {
  const parts = new Map<string, Buffer>();
  const into = async (table: string, rows: AsyncIterable<Uint8Array>) => {
    const pieces: Uint8Array[] = [];
    for await (const piece of rows) pieces.push(piece);
    parts.set(table, Buffer.concat(pieces));
  };
  async function* outOf(table: string): AsyncGenerator<Uint8Array> {
    const text = parts.get(table) ?? Buffer.alloc(0);
    for (let at = 0; at < text.length; at += 1_000) yield text.subarray(at, at + 1_000);
  }
  let filled: { url: string; store: Store; said: StoreCopy } | undefined;
  const dumped = async () => {
    if (filled) return filled;
    const url = await (await postgresServer()).fresh();
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
    assert.deepEqual(await receiptsInRows(outOf('stream_events')), [RECEIPT]);
    const url = await (await postgresServer()).fresh();
    await loadPostgres(url, said, outOf);
    await using restored = await openStore(url);
    await isRestored(restored, store);
    const again = await dumpPostgres(url, async (_table, rows) => {
      for await (const _ of rows);
    });
    assert.equal(
      again.tables.find(({ table }) => table === 'segments')?.sha256,
      said.tables.find(({ table }) => table === 'segments')?.sha256,
    );
  });

  it('is of one moment while writers go on', async () => {
    const { url, store } = await dumped();
    const stopping = new AbortController();
    const writing = (async () => {
      for (let i = 0; !stopping.signal.aborted; i += 1)
        await store.recordScan(scanOf(`w${i}.com`, day(0), GOOGLE), confirm);
    })();
    try {
      for (let round = 0; round < 3; round += 1) {
        const acknowledged = (await store.counts()).scans;
        const said = await dumpPostgres(url, async (_table, rows) => {
          for await (const _ of rows);
        });
        const rows = (name: string) => said.tables.find(({ table }) => table === name)?.rows ?? 0;
        assert.ok(rows('scans') >= acknowledged);
        assert.deepEqual([rows('domains') - 1, rows('evidence')], [rows('scans'), rows('scans')]);
      }
    } finally {
      stopping.abort();
      await writing;
    }
  });

  it('goes into an empty database alone, and whole or not at all', async () => {
    const { said } = await dumped();
    const url = await (await postgresServer()).fresh();
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
    const server = await postgresServer();
    const [older, url] = [await server.fresh(), await server.fresh()];
    {
      await using db = new Kysely<Database>({ dialect: postgresDialect(openPool(older)) });
      await db.transaction().execute((tx) => migrateTo(tx, '003-changes-by-category'));
      await db
        .insertInto('domains')
        .values({
          name: 'old.com',
          source: 'test',
          created_at: 1,
          next_due_at: 0,
          last_scanned_at: null,
          state: null,
          rulebook: null,
          summary: null,
          score: null,
        })
        .execute();
    }
    const said = await dumpPostgres(older, into);
    assert.equal(said.schema, '003-changes-by-category');
    await loadPostgres(url, said, outOf);
    await using restored = await openStore(url);
    assert.deepEqual(await restored.due(new Date(), 10), ['old.com']);
    assert.deepEqual(await restored.feeds.list({ after: 0, limit: 1 }), []);
  });
});
