import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, it } from 'node:test';
import { Kysely } from 'kysely';
import { Migrator } from 'kysely/migration';
import { isWanted, openStore, type StreamEvent } from './index.ts';
import { up as initial } from './migrations/001-initial.ts';
import { openDatabase, sqliteDialect } from './sqlite-dialect.ts';
import { confirm, GOOGLE, scanOf } from './test/conformance.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'strata-stream-'));
after(() => rmSync(directory, { recursive: true, force: true }));
let files = 0;
const freshFile = () => path.join(directory, `${++files}.db`);

const event = (publishedUs: number, more: Partial<StreamEvent> = {}): Omit<StreamEvent, 'seq'> => ({
  publishedUs,
  type: 'migration',
  domain: 'a.com',
  providers: ['x', 'y'],
  category: 'dns',
  body: `{"at":${publishedUs}}`,
  ...more,
});

describe('the public stream', () => {
  it('begins once, keeps its order, and is found by number and by time', async () => {
    await using store = await openStore(`sqlite:${freshFile()}`);
    const { stream } = store;
    assert.deepEqual([await stream.cursor(), await stream.beganUs(), await stream.latest()], [undefined, 0, undefined]);
    await stream.begin(7, 1_000);
    await stream.begin(9, 2_000);
    assert.deepEqual([await stream.cursor(), await stream.beganUs()], [7, 1_000]);
    const told = await stream.append([event(1_001), event(1_002, { providers: [], category: null, domain: null })], {
      from: 7,
      to: 12,
    });
    assert.deepEqual(
      told.map(({ seq }) => seq),
      [1, 2],
    );
    assert.equal(await stream.cursor(), 12);
    assert.deepEqual(await stream.since(0, 10), told, 'read back as written');
    assert.deepEqual(await stream.latest(), told[1]);
    assert.deepEqual([await stream.seqAt(1_000), await stream.seqAt(1_001), await stream.seqAt(9_999)], [0, 1, 2]);
  });

  it('is told by one process: who comes second with an old place writes nothing', async () => {
    const file = freshFile();
    await using one = await openStore(`sqlite:${file}`);
    await using other = await openStore(`sqlite:${file}`);
    await one.stream.begin(0, 1);
    await one.stream.append([event(10)], { from: 0, to: 5 });
    await assert.rejects(other.stream.append([event(11)], { from: 0, to: 5 }), /another process/);
    assert.equal((await other.stream.since(0, 10)).length, 1);
  });

  it('moves its place and its events together, or neither', async () => {
    await using store = await openStore(`sqlite:${freshFile()}`);
    await store.stream.begin(0, 1);
    await store.stream.append([event(10)], { from: 0, to: 5 });
    await assert.rejects(store.stream.append([event(11), event(10)], { from: 5, to: 6 }), 'a time names one event');
    assert.deepEqual([await store.stream.cursor(), (await store.stream.since(0, 10)).length], [5, 1]);
  });

  it('forgets what is old, in steps, and never gives a number twice', async () => {
    await using store = await openStore(`sqlite:${freshFile()}`);
    const { stream } = store;
    await stream.begin(0, 1);
    await stream.append(
      Array.from({ length: 10 }, (_, i) => event(100 + i)),
      { from: 0, to: 1 },
    );
    assert.equal(await stream.prune(105, 3), 3);
    assert.deepEqual([await stream.prunedThrough(), (await stream.since(0, 1))[0]?.seq], [3, 4]);
    assert.equal(await stream.prune(105, 100), 2);
    assert.equal(await stream.prune(105, 100), 0);
    assert.equal(await stream.prune(1_000, 100), 5);
    const [next] = await stream.append([event(200)], { from: 1, to: 2 });
    assert.deepEqual([next?.seq, await stream.prunedThrough()], [11, 10]);
  });

  it('wants what a filter says', () => {
    const told = { seq: 1, ...event(1) };
    for (const filter of [
      {},
      { types: ['migration'] },
      { domain: 'a.com' },
      { provider: 'y' },
      { category: 'dns', provider: 'x' },
    ])
      assert.ok(isWanted(told, filter));
    for (const filter of [
      { types: ['anomaly'] },
      { domain: 'b.com' },
      { provider: 'z' },
      { category: 'cdn' },
      { category: 'dns', provider: 'z' },
    ])
      assert.ok(!isWanted(told, filter));
  });
});

describe('a database of the first version', () => {
  it('is brought up to date with its data, and its domains get their marks with the next scan', async () => {
    const file = freshFile();
    {
      const db = new Kysely<unknown>({ dialect: sqliteDialect(openDatabase(file)) });
      const migrator = new Migrator({
        db,
        provider: { getMigrations: async () => ({ '001-initial': { up: initial } }) },
      });
      assert.equal((await migrator.migrateToLatest()).error, undefined);
      await db.destroy();
      using database = new DatabaseSync(file);
      database.exec("INSERT INTO domains (id, name, source, created_at, next_due_at) VALUES (5, 'a.com', 't', 0, 0)");
      database.exec(
        "INSERT INTO scans (id, domain_id, started_at, finished_at, state, rulebook, services, unmeasured) VALUES (1, 5, 77, 78, 'active', '1', 3, '')",
      );
      database.exec("INSERT INTO events (seq, at, kind, domain, payload) VALUES (3, 0, 'migration', 'a.com', '{}')");
    }
    await using store = await openStore(`sqlite:${file}`);
    assert.deepEqual(
      (await store.eventsSince(0, 10)).map(({ seq, kind }) => [seq, kind]),
      [[3, 'change-confirmed']],
    );
    assert.deepEqual(
      (await store.feed.scansSince(0, 10)).map(({ at }) => at),
      [77],
    );
    assert.match(await store.feed.storeId(), /^[0-9a-f-]{36}$/);
    await store.recordScan(scanOf('a.com', '2026-01-01T00:00:00.000Z', GOOGLE), confirm);
    const [, changed] = await store.eventsSince(0, 10);
    assert.ok(changed?.kind === 'domain-changed' && changed.payload.posture > 0 && changed.payload.holders > 0);
    const read: unknown[] = [];
    await store.feed.readAll({ domains: (batch) => read.push(...batch), changes: () => {}, scanDays: () => {} });
    const { domainId, isFirst: _first, rulebook: _rulebook, ...payload } = changed.payload;
    assert.deepEqual(read, [{ id: domainId, name: 'a.com', ...payload }], 'the event tells what a fresh reading would');
  });
});
