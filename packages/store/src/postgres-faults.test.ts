// A server that goes away, stands still or keeps others waiting while it is used: each is told, nothing is lost, and the same
// store works again afterwards.
import assert from 'node:assert/strict';
import { after, afterEach, beforeEach, describe, it, mock } from 'node:test';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { Kysely, sql } from 'kysely';
import pg from 'pg';
import { openStore, type Store } from './index.ts';
import { BEGIN_WRITING } from './postgres-dialect.ts';
import type { Database } from './schema.ts';
import { failsWith } from './test/fails-with.ts';
import { rows } from './test/places.ts';
import { dialectOf } from './test/plans.ts';
import { binaries, notice, type PostgresServer, startPostgres } from './test/postgres.ts';
import { confirm, day, GOOGLE, scanOf } from './test/scans.ts';

const END = 'select pg_terminate_backend(pid) from pg_stat_activity';
const WAITING = "select pid from pg_stat_activity where wait_event_type = 'Lock'";

describe('a server', { skip: binaries ? false : notice }, async () => {
  const server: PostgresServer = await startPostgres();
  after(() => server[Symbol.asyncDispose]());
  const record = (store: Store, name: string) => store.recordScan(scanOf(name, day(0), GOOGLE), confirm);

  /** A connection that stands beside the store's. */
  const beside = async (url: string) => {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {});
    await client.connect();
    return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
  };
  /** Until so many statements wait for somebody's lock. */
  const untilWaiting = async (count: number) => {
    while ((await server.sql(WAITING)).rows.length < count);
  };

  it('that is killed under load has kept every scan that was acknowledged, and the store goes on with the next', async () => {
    const url = await server.fresh();
    await using store = await openStore(url);
    const acknowledged: string[] = [];
    const failed: unknown[] = [];
    let isOver = false;
    const recording = Array.from({ length: 8 }, async (_, worker) => {
      for (let n = 0; !isOver; n += 1) {
        const name = `d${worker}-${n}.com`;
        await record(store, name).then(
          () => acknowledged.push(name),
          (error) => failed.push(error),
        );
      }
    });
    for (let kills = 1; kills <= 2; kills += 1) {
      const before = acknowledged.length;
      while (acknowledged.length < before + 40) await delay(5);
      await server.kill();
      while (!failed.some(failsWith('unreachable'))) await delay(5);
      await server.start();
      for (const error of failed)
        assert.ok(failsWith('connection-lost')(error) || failsWith('unreachable')(error), String(error));
      failed.length = 0;
    }
    const before = acknowledged.length;
    while (acknowledged.length < before + 20) await delay(5);
    isOver = true;
    await Promise.all(recording);
    for (const name of acknowledged) assert.equal((await store.domain(name))?.services.length, 3, name);
    const { domains, scans, services } = await store.counts();
    assert.deepEqual([scans, services, (await store.eventsSince(0, 10_000)).length], [domains, 3 * domains, domains]);
  });

  it('that ends connections is told to have, and others take their place', async () => {
    const url = await server.fresh();
    await using store = await openStore(url, { poolSize: 2 });
    await record(store, 'a.com');
    await using other = await beside(url);
    await other.query('begin; lock table services');
    const refused = assert.rejects(record(store, 'b.com'), failsWith('connection-lost'));
    await untilWaiting(1);
    await server.sql(`select pg_terminate_backend(pid) from (${WAITING}) as waiting`);
    await refused;
    await other.query('rollback');
    // Those that are idle, too: the store may notice only when it wants one of them.
    await server.sql(`${END} where application_name = 'strata'`);
    for (let tries = 0; tries < 3; tries += 1)
      await record(store, 'b.com').catch((error) => assert.ok(failsWith('connection-lost')(error), String(error)));
    const { domains, scannedDomains } = await store.counts();
    assert.deepEqual([domains, scannedDomains], [2, 2]);
  });

  it('that ends a connection between two statements of a transaction leaves the process alive', async () => {
    const url = await server.fresh();
    await using db = new Kysely<Database>({ dialect: dialectOf(url) });
    const working = db.transaction().execute(async (tx) => {
      await sql`create table half (name text)`.execute(tx);
      await server.sql(`${END} where state = 'idle in transaction'`);
      for (let isThere = true; isThere; )
        isThere = (await rows(url, "select 1 from pg_stat_activity where state = 'idle in transaction'")).length > 0;
      await delay(50);
      await sql`select 1`.execute(tx);
    });
    await assert.rejects(working, failsWith('connection-lost'));
    await assert.rejects(sql`select * from half`.execute(db), /does not exist/);
  });

  it('that takes too long for a statement is told to, and what waited in vain for its turn leaves no trace', async () => {
    const url = await server.fresh();
    await using store = await openStore(`${url}?statement_timeout=2000&lock_timeout=400`, { poolSize: 1 });
    await record(store, 'a.com');
    await using other = await beside(url);
    // Another writer has its turn and does not end it.
    await other.query(BEGIN_WRITING);
    await assert.rejects(record(store, 'b.com'), failsWith('busy'));
    assert.ok(await store.domain('a.com'), 'the only connection reads on');
    await other.query('rollback');
    await record(store, 'b.com');
    await other.query('begin; lock table domains');
    await assert.rejects(record(store, 'c.com'), failsWith('busy'));
    await other.query('rollback');
    await record(store, 'c.com');

    await using patient = await openStore(`${url}?statement_timeout=1000`, { poolSize: 1 });
    await other.query('begin; lock table domains');
    await assert.rejects(patient.domain('a.com'), failsWith('too-slow'));
    await assert.rejects(record(patient, 'd.com'), failsWith('too-slow'));
    await other.query('rollback');
    await record(patient, 'd.com');
    assert.deepEqual([(await store.counts()).scans, (await store.counts()).domains], [4, 4]);
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
      const url = await server.fresh();
      await using store = await openStore(url, { poolSize: 1 });
      await record(store, 'a.com');
      const [{ pid } = {}] = await rows(url, "select pid from pg_stat_activity where query ilike 'commit'");
      process.kill(Number(pid), 'SIGSTOP');
      try {
        const reading = assert.rejects(store.domain('a.com'), failsWith('too-slow'));
        await pass(120_000);
        await reading;
      } finally {
        process.kill(Number(pid), 'SIGCONT');
      }
      assert.ok(await store.domain('a.com'), 'on another connection');
    });

    it('that keeps its connections busy has others wait in line, however long', async () => {
      const url = await server.fresh();
      await using store = await openStore(url, { poolSize: 1 });
      await using other = await beside(url);
      await other.query('begin; lock table domains');
      const recording = record(store, 'a.com');
      await untilWaiting(1);
      const counting = store.counts();
      // Longer than the server may take to be reached, and shorter than a statement may take.
      await pass(30_000);
      await other.query('rollback');
      await recording;
      assert.equal((await counting).scans, 1);
    });
  });
});
