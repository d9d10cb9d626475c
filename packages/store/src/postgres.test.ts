// What only a server can be: not there, closed to this user, crowded, shared with other programs and with newer versions.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, it, mock } from 'node:test';
import pg from 'pg';
import { openStore } from './index.ts';
import { BEGIN_WRITING } from './postgres-dialect.ts';
import { failsWith } from './test/fails-with.ts';
import { exec, onEach, postgres, rows } from './test/places.ts';
import { freePort, startPostgres } from './test/postgres.ts';
import { confirm, day, GOOGLE, scanOf } from './test/scans.ts';

/** The same database for another user, or with settings of its own. */
function changed(
  url: string,
  change: { readonly user?: string; readonly password?: string; readonly search?: string },
) {
  const other = new URL(url);
  if (change.user) other.username = change.user;
  if (change.password) other.password = change.password;
  if (change.search) other.search = change.search;
  return other.href;
}

onEach([postgres], 'a store', ({ fresh, empty }) => {
  it('is told to be nowhere', async () => {
    const url = await fresh();
    await assert.rejects(openStore(`postgres://strata@127.0.0.1:${await freePort()}/x`), failsWith('unreachable'));
    await assert.rejects(openStore('postgres://strata@no-such-host.invalid/x'), failsWith('unreachable'));
    await assert.rejects(openStore(url.replace(/[^/]+$/, 'nobody_made_it')), failsWith('no-database'));
    await assert.rejects(
      openStore(changed(url, { search: '?options=-csearch_path%3Dnobody_made_it' })),
      failsWith('no-database'),
    );
  });

  it('is told to be nowhere when nobody answers there', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as { readonly port: number };
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

  it('is told to be closed to who has a wrong password, or none', async () => {
    await using server = await startPostgres();
    const url = await server.fresh();
    await server.allow('host all guarded 127.0.0.1/32 scram-sha-256');
    await exec(url, "create role guarded login password 'right'; grant all on schema public to guarded");
    await assert.rejects(openStore(changed(url, { user: 'guarded', password: 'wrong' })), failsWith('refused'));
    await assert.rejects(openStore(changed(url, { user: 'nobody' })), failsWith('refused'));
    await using store = await openStore(changed(url, { user: 'guarded', password: 'right' }));
    assert.equal((await store.counts()).domains, 0);
  });

  it('is told to be full, and goes on when somebody has left', async () => {
    const url = await empty();
    await exec(url, 'create role lonely login connection limit 1; grant all on schema public to lonely');
    const lonely = changed(url, { user: 'lonely' });
    {
      await using store = await openStore(lonely, { poolSize: 1 });
      await store.addDomains(['a.com'], { source: 'test' });
      await assert.rejects(openStore(lonely), failsWith('too-many-connections'));
      assert.equal((await store.counts()).domains, 1, 'nobody else is harmed');
    }
    // The server counts a connection until it has noticed its end.
    for (let left = 1; left > 0; )
      left = (await rows(url, "select 1 from pg_stat_activity where usename = 'lonely'")).length;
    await using store = await openStore(lonely, { poolSize: 1 });
    assert.equal((await store.counts()).domains, 1);
  });

  it('is told to be read-only where it is, or where the user may do no more', async () => {
    const url = await empty();
    await assert.rejects(
      openStore(changed(url, { search: '?options=-cdefault_transaction_read_only%3Don' })),
      failsWith('read-only'),
    );
    await (await openStore(url))[Symbol.asyncDispose]();
    await exec(url, 'create role reader login; grant select on all tables in schema public to reader');
    await assert.rejects(openStore(changed(url, { user: 'reader' })), failsWith('not-allowed'));
  });

  it('says of a user who may make no tables that it may not, and nothing of the password', async () => {
    const url = await empty();
    await exec(url, 'create role homeless login');
    await assert.rejects(openStore(changed(url, { user: 'homeless' })), {
      code: 'not-allowed',
      message: /lets this user do too little: .* CREATE on its schema/,
    });
  });

  it('shares its database with the tables of other programs, and its names with none', async () => {
    const url = await empty();
    await exec(
      url,
      `create table recipes (name text); create schema other;
       create table other.domains (name text); create table other.kysely_migration (name text, timestamp text);
       insert into other.kysely_migration values ('recipes-1', '2020-01-01')`,
    );
    {
      await using store = await openStore(url);
      await store.recordScan(scanOf('a.com', day(0), GOOGLE), confirm);
      assert.deepEqual(await rows(url, 'select * from other.domains'), []);
    }
    await exec(url, 'create schema clash; create table clash.events (name text)');
    const clash = changed(url, { search: '?options=-csearch_path%3Dclash' });
    await assert.rejects(openStore(clash), failsWith('names-taken'));
    assert.deepEqual(await rows(clash, 'select * from events'), []);
  });

  it('is one of several in schemas of one database, which neither see nor wait for one another', async () => {
    const url = await empty();
    await exec(url, 'create schema one; create schema two');
    const inOne = changed(url, { search: '?options=-csearch_path%3Done' });
    const inTwo = changed(url, { search: '?options=-csearch_path%3Dtwo&lock_timeout=200' });
    await using one = await openStore(inOne);
    await using two = await openStore(inTwo);
    await one.recordScan(scanOf('a.com', day(0), GOOGLE), confirm);
    assert.deepEqual([(await one.counts()).domains, (await two.counts()).domains], [1, 0]);
    assert.notEqual(await one.feed.storeId(), await two.feed.storeId());
    const writing = new pg.Client({ connectionString: inOne });
    await writing.connect();
    await writing.query(BEGIN_WRITING);
    await two.recordScan(scanOf('a.com', day(0), GOOGLE), confirm);
    await writing.end();
    assert.equal((await two.counts()).scans, 1);
  });

  it('goes on when another process has brought the schema up to date under it', async () => {
    const url = await fresh();
    await using store = await openStore(url, { poolSize: 1 });
    await store.recordScan(scanOf('a.com', day(0), GOOGLE), confirm);
    assert.ok(await store.domain('a.com'));
    await exec(url, 'alter table domains add column later text; alter table services add column later text');
    // What was prepared for the old columns is of no use any more; that is told once for each connection.
    await assert.rejects(store.domain('a.com'), failsWith('connection-lost'));
    assert.ok(await store.domain('a.com'));
    await store.recordScan(scanOf('a.com', day(1), GOOGLE), confirm);
    assert.equal((await store.counts()).scans, 2);
  });
});

describe('the address of a store', () => {
  it('is of a file or of a server', async () => {
    for (const url of ['mysql://x', 'postgres:x', 'x.db', ''])
      await assert.rejects(openStore(url), /must begin with sqlite: .* or with postgres:/);
  });
});
