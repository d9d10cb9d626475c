// What only a server can be: missing, closed to this user, full, shared with other programs and with newer versions.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { it, mock } from 'node:test';
import { openStore } from './index.ts';
import { BEGIN_WRITING } from './postgres-dialect.ts';
import { backends, connect } from './test/connections.ts';
import { failsWith } from './test/fails-with.ts';
import { exec, onEach, postgres, rows } from './test/places.ts';
import { freePort } from './test/postgres.ts';
import { confirm, day, GOOGLE, scanOf } from './test/scans.ts';

const scan = scanOf('a.com', day(0), GOOGLE);
const asUser = (url: string, username: string) => Object.assign(new URL(url), { username }).href;
const withOption = (url: string, option: string) =>
  Object.assign(new URL(url), { search: `?options=-c${option.replace('=', '%3D')}` }).href;
const inSchema = (url: string, schema: string) => withOption(url, `search_path=${schema}`);

/** Roles are those of the whole cluster: a name that no other run of this test has given. */
async function createRole(url: string, options = ''): Promise<string> {
  const name = `role_${randomBytes(6).toString('hex')}`;
  await exec(url, `create role ${name} login ${options}`);
  return name;
}

onEach([postgres], 'a store', ({ fresh, empty }) => {
  it('is reported as unreachable, closed or read-only', async () => {
    const url = await fresh();
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

  it('is reported as full, and goes on when a client has left', async () => {
    const url = await empty();
    const username = await createRole(url, 'connection limit 1');
    await exec(url, `grant all on schema public to ${username}`);
    const lonely = asUser(url, username);
    {
      await using store = await openStore(lonely, { poolSize: 1 });
      await store.addDomains(['a.com'], { source: 'test' });
      await assert.rejects(openStore(lonely), failsWith('too-many-connections'));
      assert.equal((await store.counts()).domains, 1, 'the other is not affected');
    }
    // The server counts a connection until it has noticed its end.
    while ((await backends(url, `usename = '${username}'`)).length > 0);
    await using store = await openStore(lonely, { poolSize: 1 });
    assert.equal((await store.counts()).domains, 1);
  });

  it('is refused to a user who may not create tables, in a message without the password', async () => {
    const url = await empty();
    const message = /lets this user do too little: .* CREATE on its schema/;
    await assert.rejects(openStore(asUser(url, await createRole(url))), { code: 'not-allowed', message });
  });

  it('shares its database with the tables of other programs, and its names with none', async () => {
    const url = await empty();
    await exec(
      url,
      `create table recipes (name text); create schema other;
       create table other.domains (name text); create table other.kysely_migration (name text, timestamp text);
       insert into other.kysely_migration values ('recipes-1', '2020-01-01');
       create schema clash; create table clash.events (name text)`,
    );
    {
      await using store = await openStore(url);
      await store.recordScan(scan, confirm);
      assert.deepEqual(await rows(url, 'select * from other.domains'), []);
    }
    await assert.rejects(openStore(inSchema(url, 'clash')), failsWith('names-taken'));
    assert.deepEqual(await rows(url, 'select * from clash.events'), []);
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
    await using one = await openStore(inSchema(url, 'one'));
    await using two = await openStore(`${inSchema(url, 'two')}&lock_timeout=200`);
    await one.recordScan(scan, confirm);
    assert.deepEqual([(await one.counts()).domains, (await two.counts()).domains], [1, 0]);
    assert.notEqual(await one.feed.storeId(), await two.feed.storeId());
    await using writing = await connect(inSchema(url, 'one'));
    await writing.query(BEGIN_WRITING);
    await two.recordScan(scan, confirm);
    assert.equal((await two.counts()).scans, 1);
  });

  it('goes on when another process has brought the schema up to date', async () => {
    const url = await fresh();
    await using store = await openStore(url, { poolSize: 1 });
    await store.recordScan(scan, confirm);
    assert.ok(await store.domain('a.com'));
    await exec(url, 'alter table domains add column later text; alter table services add column later text');
    // Statements that were prepared for the old columns fail; that is reported once for each connection.
    await assert.rejects(store.domain('a.com'), failsWith('connection-lost'));
    assert.ok(await store.domain('a.com'));
    await store.recordScan(scanOf('a.com', day(1), GOOGLE), confirm);
    assert.equal((await store.counts()).scans, 2);
  });
});
