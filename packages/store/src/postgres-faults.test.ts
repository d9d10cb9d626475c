// A server that ends connections, does not answer or keeps transactions waiting: each client gets an error, nothing is lost, and the same
// store works again afterwards. A server that is killed: postgres-server.full.test.ts.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Kysely, sql } from 'kysely';
import { openStore, type Store } from './index.ts';
import { BEGIN_WRITING } from './postgres-dialect.ts';
import type { Database } from './schema.ts';
import { backends, connect, terminate, untilWaiting } from './test/connections.ts';
import { failsWith } from './test/fails-with.ts';
import { onEach, postgres } from './test/places.ts';
import { dialectOf } from './test/plans.ts';
import { confirm, day, GOOGLE, scanOf } from './test/scans.ts';

const record = (store: Store, name: string) => store.recordScan(scanOf(name, day(0), GOOGLE), confirm);

onEach([postgres], 'a server', ({ fresh }) => {
  it('that ends connections is reported, and new connections are made', async () => {
    const url = await fresh();
    await using store = await openStore(url, { poolSize: 2 });
    await record(store, 'a.com');
    await using other = await connect(url);
    await other.query('begin; lock table services');
    const refused = assert.rejects(record(store, 'b.com'), failsWith('connection-lost'));
    await untilWaiting(url);
    await terminate(url, "wait_event_type = 'Lock'");
    await refused;
    await other.query('rollback');
    // Those that are idle, too: the store may notice only when it wants one of them.
    await terminate(url, "application_name = 'strata' and pid <> pg_backend_pid()");
    for (let tries = 0; tries < 3; tries += 1)
      await record(store, 'b.com').catch((error) => assert.ok(failsWith('connection-lost')(error), String(error)));
    assert.partialDeepStrictEqual(await store.counts(), { domains: 2, scannedDomains: 2 });
  });

  it('that ends a connection between two statements of a transaction leaves the process alive', async () => {
    const url = await fresh();
    await using db = new Kysely<Database>({ dialect: dialectOf(url) });
    const working = db.transaction().execute(async (tx) => {
      await sql`create table half (name text)`.execute(tx);
      await terminate(url, "state = 'idle in transaction'");
      while ((await backends(url, "state = 'idle in transaction'")).length > 0);
      for (let turns = 0; turns < 20; turns += 1) await turn();
      await sql`select 1`.execute(tx);
    });
    await assert.rejects(working, failsWith('connection-lost'));
    await assert.rejects(sql`select * from half`.execute(db), /does not exist/);
  });

  it('that takes too long is interrupted, and what could not begin in time leaves no trace', async () => {
    const url = await fresh();
    // Nothing but what is locked below waits for a lock.
    await using store = await openStore(`${url}?lock_timeout=100`, { poolSize: 1 });
    await record(store, 'a.com');
    await using other = await connect(url);
    // Another writer has begun and does not end.
    await other.query(BEGIN_WRITING);
    await assert.rejects(record(store, 'b.com'), failsWith('busy'));
    assert.ok(await store.domain('a.com'), 'the only connection reads on');
    await other.query('rollback');
    await record(store, 'b.com');
    await other.query('begin; lock table domains');
    await assert.rejects(record(store, 'c.com'), failsWith('busy'));
    await other.query('rollback');
    await record(store, 'c.com');

    await using patient = await openStore(url, { poolSize: 1 });
    await other.query('begin; lock table domains');
    for (const waiting of [() => patient.domain('a.com'), () => record(patient, 'd.com')]) {
      const refused = assert.rejects(waiting(), failsWith('too-slow'));
      await untilWaiting(url);
      // As its own limit does, which is longer than a test.
      await terminate(url, "wait_event_type = 'Lock'", 'cancel');
      await refused;
    }
    await other.query('rollback');
    await record(patient, 'd.com');
    assert.partialDeepStrictEqual(await store.counts(), { scans: 4, domains: 4 });
  });

  it('is to interrupt a statement after a minute, or after 15 s of waiting for a lock', async () => {
    await using db = new Kysely<Database>({ dialect: dialectOf(await fresh()) });
    const settings = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];
    const columns = settings.map((name) => `current_setting('${name}') as ${name}`).join();
    const { rows } = await sql.raw<Record<string, string>>(`select ${columns}`).execute(db);
    assert.deepEqual(Object.values(rows[0] ?? {}), ['1min', '15s', '30s']);
  });

  describe('by a clock of our own', { timeout: 30_000 }, () => {
    // From before the first connection on: a timer that was set by the other clock could not be cleared.
    beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
    afterEach(() => mock.timers.reset());
    const pass = async (ms: number) => {
      for (let turns = 0; turns < 20; turns += 1) await turn();
      mock.timers.tick(ms);
    };

    it('is given up when it answers nothing at all', async () => {
      const url = await fresh();
      await using store = await openStore(url, { poolSize: 1 });
      await record(store, 'a.com');
      const [pid = 0] = await backends(url, "query ilike 'commit'");
      process.kill(pid, 'SIGSTOP');
      try {
        const reading = assert.rejects(store.domain('a.com'), failsWith('too-slow'));
        await pass(120_000);
        await reading;
      } finally {
        process.kill(pid, 'SIGCONT');
      }
      assert.ok(await store.domain('a.com'), 'on another connection');
    });

    it('that keeps its connections busy makes requests wait in line, however long', async () => {
      const url = await fresh();
      await using store = await openStore(url, { poolSize: 1 });
      await using other = await connect(url);
      await other.query('begin; lock table domains');
      const recording = record(store, 'a.com');
      await untilWaiting(url);
      const counting = store.counts();
      // Longer than a connection may take, and shorter than a statement may take.
      await pass(30_000);
      await other.query('rollback');
      await recording;
      assert.equal((await counting).scans, 1);
    });
  });
});
