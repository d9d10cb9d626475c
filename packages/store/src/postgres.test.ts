// What only a server can be: not there, closed to this user, crowded, shared with other programs and with newer versions.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { it, mock } from 'node:test';
import { openStore } from './index.ts';
import { BEGIN_WRITING } from './postgres-dialect.ts';
import { backends, connect } from './test/connections.ts';
import { failsWith } from './test/fails-with.ts';
import { exec, onEach, postgres, rows } from './test/places.ts';
import { freePort } from './test/postgres.ts';
import { confirm, day, GOOGLE, scanOf } from './test/scans.ts';

/** The same database for another user, or with settings of its own. */
const changed = (url: string, change: { readonly username?: string; readonly search?: string }) =>
  Object.assign(new URL(url), change).href;

/** Roles are those of the whole cluster: a name that no other run of this test has given. */
async function createRole(url: string, options = ''): Promise<string> {
  const name = `role_${randomBytes(6).toString('hex')}`;
  await exec(url, `create role ${name} login ${options}`);
  return name;
}

onEach([postgres], 'a store', ({ fresh, empty }) => {
  it('is told to be nowhere', async () => {
    const url = await fresh();
    await assert.rejects(openStore(`postgres://strata@127.0.0.1:${await freePort()}/x`), failsWith('unreachable'));
    await assert.rejects(openStore('postgres://strata@no-such-host.invalid/x'), failsWith('unreachable'));
    await assert.rejects(openStore(changed(url, { username: 'nobody' })), failsWith('refused'));
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

  it('is told to be full, and goes on when somebody has left', async () => {
    const url = await empty();
    const username = await createRole(url, 'connection limit 1');
    await exec(url, `grant all on schema public to ${username}`);
    const lonely = changed(url, { username });
    {
      await using store = await openStore(lonely, { poolSize: 1 });
      await store.addDomains(['a.com'], { source: 'test' });
      await assert.rejects(openStore(lonely), failsWith('too-many-connections'));
      assert.equal((await store.counts()).domains, 1, 'nobody else is harmed');
    }
    // The server counts a connection until it has noticed its end.
    while ((await backends(url, `usename = '${username}'`)).length > 0);
    await using store = await openStore(lonely, { poolSize: 1 });
    assert.equal((await store.counts()).domains, 1);
  });

  it('is told to be read-only where it is, or where the user may do no more', async () => {
    const url = await fresh();
    await assert.rejects(
      openStore(changed(url, { search: '?options=-cdefault_transaction_read_only%3Don' })),
      failsWith('read-only'),
    );
    const username = await createRole(url);
    await exec(url, `grant select on all tables in schema public to ${username}`);
    await assert.rejects(openStore(changed(url, { username })), failsWith('not-allowed'));
  });

  it('says of a user who may make no tables that it may not, and nothing of the password', async () => {
    const url = await empty();
    await assert.rejects(openStore(changed(url, { username: await createRole(url) })), {
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

  it('gets its schema once when several open it first', async () => {
    const url = await empty();
    const stores = await Promise.all([1, 2, 3].map(() => openStore(url)));
    assert.equal(new Set(await Promise.all(stores.map((store) => store.feed.storeId()))).size, 1);
    for (const store of stores) await store[Symbol.asyncDispose]();
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
    await using writing = await connect(inOne);
    await writing.query(BEGIN_WRITING);
    await two.recordScan(scanOf('a.com', day(0), GOOGLE), confirm);
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
