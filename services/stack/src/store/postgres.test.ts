// States of a server: missing, closed, full, shared, slow or unresponsive; its clock. Killed: kill.full.test.ts.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { setTimeout as delay, setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { BEGIN_WRITING } from '@strata/db';
import { sql } from 'kysely';
import { startBadLink } from '../../../../tests/support/bad-link.ts';
import { backends, connect, terminate, untilWaiting } from '../../../../tests/support/database/connections.ts';
import { freePort, repeatDuring } from '../../../../tests/support/index.ts';
import { openStore, type Store } from './index.ts';
import { databaseOf, exec, failsWith, memory, onEach, postgres, rows } from './test/backends.ts';
import { confirm, day, GOOGLE, recordScan, scanOf } from './test/scans.ts';

const record = (store: Store, name = 'a.com') => recordScan(store, scanOf(name, day(0), GOOGLE), confirm);
const asUser = (url: string, username: string) => Object.assign(new URL(url), { username }).href;
const withOption = (url: string, option: string) => `${url}?options=-c${option.replace('=', '%3D')}`;
const inSchema = (url: string, schema: string) => withOption(url, `search_path=${schema}`);

/** Roles are those of the complete cluster: a name unique to this run. */
async function createRole(url: string, options = ''): Promise<string> {
  const name = `role_${randomBytes(6).toString('hex')}`;
  await exec(url, `create role ${name} login ${options}`);
  return name;
}

onEach([postgres], 'a store', ({ empty }, _test, onFresh, onEmpty) => {
  onFresh('is reported as unreachable, closed or read-only', async (url) => {
    const username = await createRole(url);
    await exec(url, `grant select on all tables in schema public to ${username}`);
    for (const [wrong, code] of [
      [`postgres://strata@127.0.0.1:${await freePort()}/x`, 'unreachable'],
      ['postgres://strata@no-such-host.invalid/x', 'unreachable'],
      [asUser(url, 'unknown'), 'refused'],
      [url.replace(/[^/]+$/, 'no_such_database'), 'no-database'],
      [inSchema(url, 'no_such_schema'), 'no-database'],
      [withOption(url, 'default_transaction_read_only=on'), 'read-only'],
      [asUser(url, username), 'not-allowed'],
    ] as const)
      await assert.rejects(openStore(wrong), failsWith(code), wrong);
  });

  it('is reported as unreachable when the server does not answer', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const opening = assert.rejects(openStore(`postgres://strata@127.0.0.1:${port}/x`), failsWith('unreachable'));
      const [socket] = await once(silent, 'connection');
      mock.timers.tick(10_000);
      await opening;
      socket.destroy();
    } finally {
      mock.timers.reset();
      silent.close();
    }
  });

  onEmpty('is reported as full, and continues when a client has disconnected', async (url) => {
    const username = await createRole(url, 'connection limit 1');
    await exec(url, `grant all on schema public to ${username}`);
    const lonely = asUser(url, username);
    {
      await using store = await openStore(lonely, { poolSize: 1 });
      await store.domains.add(['a.com'], { source: 'test' });
      await assert.rejects(openStore(lonely), failsWith('too-many-connections'));
      assert.equal((await store.inspection.counts()).domains, 1, 'the other is not affected');
    }
    // The server counts a connection until it has noticed its end.
    while ((await backends(url, `usename = '${username}'`)).length > 0);
    await using store = await openStore(lonely, { poolSize: 1 });
    assert.equal((await store.inspection.counts()).domains, 1);
  });

  it('is refused to a user who may not create tables, in a message without the password', async () => {
    const [url, message] = [await empty(), /user lacks privileges: .* CREATE on its schema/];
    await assert.rejects(openStore(asUser(url, await createRole(url))), { code: 'not-allowed', message });
  });

  onEmpty('shares its database with the tables of other programs, and its names with none', async (url) => {
    await exec(
      url,
      `create table recipes (name text); create schema other;
       create table other.domains (name text); create table other.kysely_migration (name text, timestamp text);
       insert into other.kysely_migration values ('recipes-1', '2020-01-01');
       create schema clash; create table clash.events (name text)`,
    );
    {
      await using store = await openStore(url);
      await record(store);
      assert.deepEqual(await rows(url, 'select * from other.domains'), []);
    }
    await assert.rejects(openStore(inSchema(url, 'clash')), failsWith('names-taken'));
    assert.deepEqual(await rows(url, 'select * from clash.events'), []);
  });

  onEmpty('gets its schema once when several open it first', async (url) => {
    const stores = await Promise.all([1, 2, 3].map(() => openStore(url)));
    assert.equal(new Set(await Promise.all(stores.map((store) => store.feed.storeId()))).size, 1);
    for (const store of stores) await store[Symbol.asyncDispose]();
  });

  onEmpty('is one of several in schemas of one database, which neither see nor wait for one another', async (url) => {
    await exec(url, 'create schema one; create schema two');
    await using one = await openStore(inSchema(url, 'one'));
    await using two = await openStore(`${inSchema(url, 'two')}&lock_timeout=200`);
    await record(one);
    assert.deepEqual([(await one.inspection.counts()).domains, (await two.inspection.counts()).domains], [1, 0]);
    assert.notEqual(await one.feed.storeId(), await two.feed.storeId());
    await using _writing = await connect(inSchema(url, 'one'), BEGIN_WRITING);
    await record(two);
    assert.equal((await two.inspection.counts()).scans, 1);
  });

  onFresh('continues when another process has migrated the schema', async (url) => {
    await using store = await openStore(url, { poolSize: 1 });
    await record(store);
    const read = () => store.domains.changes('a.com', { limit: 1, offset: 0 });
    assert.ok(await read());
    const tables = ['domains', 'services', 'changes'];
    await exec(url, tables.map((table) => `alter table ${table} add column later text`).join('; '));
    // Statements that were prepared for the old columns fail; that is reported once for each connection.
    await assert.rejects(read, failsWith('connection-lost'));
    assert.ok(await read());
    await recordScan(store, scanOf('a.com', day(1), GOOGLE), confirm);
    assert.equal((await store.inspection.counts()).scans, 2);
  });
});

onEach([postgres], 'a server', (_backend, _test, onFresh) => {
  onFresh('is to interrupt a statement after a minute, and a wait for a lock after 15 s', async (url) => {
    const names = "('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout')";
    const set = await rows(url, `select setting from pg_settings where name in ${names} order by name`);
    assert.deepEqual(set, [{ setting: '30000' }, { setting: '15000' }, { setting: '60000' }]);
  });

  onFresh('that ends connections is reported, and new connections are made', async (url) => {
    await using store = await openStore(url, { poolSize: 2 });
    await record(store);
    await using other = await connect(url, 'begin; lock table services');
    const refused = assert.rejects(record(store, 'b.com'), failsWith('connection-lost'));
    await untilWaiting(url);
    await terminate(url, "wait_event_type = 'Lock'");
    await refused;
    await other.query('rollback');
    // Idle ones too: the store may notice only when it uses one of them.
    await terminate(url, "application_name = 'strata' and pid <> pg_backend_pid()");
    for (let tries = 0; tries < 3; tries += 1)
      await record(store, 'b.com').catch((error) => assert.ok(failsWith('connection-lost')(error), String(error)));
    assert.partialDeepStrictEqual(await store.inspection.counts(), { domains: 2, scannedDomains: 2 });
  });

  onFresh('that ends a connection between two statements of a transaction leaves the process alive', async (url) => {
    await using db = databaseOf(url);
    const working = db.transaction().execute(async (tx) => {
      await sql`create table half (name text)`.execute(tx);
      await terminate(url, "state = 'idle in transaction'");
      while ((await backends(url, "state = 'idle in transaction'")).length > 0);
      for (let rounds = 0; rounds < 20; rounds += 1) await yieldToEventLoop();
      await sql`select 1`.execute(tx);
    });
    await assert.rejects(working, failsWith('connection-lost'));
    await assert.rejects(sql`select * from half`.execute(db), /does not exist/);
  });

  onFresh('is left by a connection that the network has forgotten, and by no slow one', async (url) => {
    mock.timers.enable({ apis: ['setInterval'] });
    try {
      await using link = await startBadLink(url);
      await using db = databaseOf(link.url);
      await using locking = await connect(url, 'select pg_advisory_lock(1)');
      await sql`select 1`.execute(db);
      link.become({ kind: 'silent' });
      const forgotten = assert.rejects(sql`select 1`.execute(db), failsWith('connection-lost'));
      await yieldToEventLoop();
      link.become({ kind: 'ok' });
      const slow = sql`select pg_advisory_lock(1)`.execute(db);
      await untilWaiting(url);
      await repeatDuring(forgotten, async () => {
        mock.timers.tick(3_000);
        await delay(50);
      });
      await locking.query('select pg_advisory_unlock(1)');
      await slow;
    } finally {
      mock.timers.reset();
    }
  });

  onFresh('that takes too long is interrupted, and what could not begin in time leaves no trace', async (url) => {
    // Only the rows locked below cause waits.
    await using store = await openStore(`${url}?lock_timeout=100`, { poolSize: 1 });
    await record(store);
    // Another write transaction stays open.
    await using other = await connect(url, BEGIN_WRITING);
    await assert.rejects(record(store, 'b.com'), failsWith('busy'));
    assert.ok(await store.domains.profile('a.com'), 'the only connection reads on');
    await other.query('rollback');
    await record(store, 'b.com');
    await other.query('begin; lock table domains');
    await assert.rejects(record(store, 'c.com'), failsWith('busy'));
    await other.query('rollback');
    await record(store, 'c.com');
    await using patient = await openStore(url, { poolSize: 1 });
    await other.query('begin; lock table domains');
    for (const waiting of [() => patient.domains.profile('a.com'), () => record(patient, 'd.com')]) {
      const refused = assert.rejects(waiting(), failsWith('too-slow'));
      // As the client's own limit does, which is longer than a test; later pipelined statements wait too.
      await repeatDuring(refused, () => terminate(url, "wait_event_type = 'Lock'", 'cancel'));
    }
    await other.query('rollback');
    await record(patient, 'd.com');
    assert.partialDeepStrictEqual(await store.inspection.counts(), { scans: 4, domains: 4 });
  });

  describe('by a clock of our own', { timeout: 30_000 }, () => {
    // From before the first connection on: a timer that was set by the other clock could not be cleared.
    beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
    afterEach(() => mock.timers.reset());
    const pass = async (ms: number) => {
      for (let rounds = 0; rounds < 20; rounds += 1) await yieldToEventLoop();
      mock.timers.tick(ms);
    };
    onFresh('is given up when it answers nothing at all', async (url) => {
      await using store = await openStore(url, { poolSize: 1 });
      await record(store);
      const [pid = 0] = await backends(url, "query ilike 'commit'");
      process.kill(pid, 'SIGSTOP');
      try {
        const reading = assert.rejects(store.domains.profile('a.com'), failsWith('too-slow'));
        await pass(120_000);
        await reading;
      } finally {
        process.kill(pid, 'SIGCONT');
      }
      assert.ok(await store.domains.profile('a.com'), 'on another connection');
    });
    onFresh('that keeps its connections busy makes requests wait in line, however long', async (url) => {
      await using store = await openStore(url, { poolSize: 1 });
      await using other = await connect(url, 'begin; lock table domains');
      const recording = record(store);
      await untilWaiting(url);
      const counting = store.inspection.counts();
      // Longer than the connection time-out, and shorter than the statement time-out.
      await pass(30_000);
      await other.query('rollback');
      await recording;
      assert.equal((await counting).scans, 1);
    });
  });
});

const YEARS_AGO = Date.parse('2020-01-01T00:00:00Z');
/** Tolerance for a busy machine between two readings of a clock. */
const CLOSE_MS = 30_000;

onEach([memory, postgres], 'the clock of a store', (backend, test) => {
  test('is this machine’s, or the server’s, whatever this machine’s says', async (_store, url) => {
    const query = 'select extract(epoch from clock_timestamp()) * 1000 as now';
    const [{ now } = { now: YEARS_AGO }] = backend === postgres ? await rows(url, query) : [];
    mock.timers.enable({ apis: ['Date'], now: YEARS_AGO });
    using timers = mock.timers;
    await using store = await openStore(url);
    const at = () => store.clock().getTime();
    const first = at();
    const ahead = first - Number(now);
    assert.ok(ahead >= -1 && ahead < CLOSE_MS, `${ahead} ms ahead`);
    if (backend === memory) return;
    timers.setTime(YEARS_AGO * 2);
    assert.ok(at() - first < CLOSE_MS);
    await store.keys.create({ tier: 'free' });
    const [key] = await rows(url, 'select created_at as at from api_keys');
    assert.ok(Math.abs(Number(key?.at) - first) < CLOSE_MS, 'rows are dated by it');
  });
});
