// A database inspected before it is used, in every state.
import assert from 'node:assert/strict';
import { closeSync, existsSync, openSync, writeSync } from 'node:fs';
import { describe, it } from 'node:test';
import { inspectStore } from './inspect-store.ts';
import { openStore } from './store.ts';
import { StoreError } from './store-error.ts';
import { exec, freshPath, onEach, postgres, rows } from './test/places.ts';
import { freePort } from './test/postgres.ts';
import { startTransactionPooler } from './test/transaction-pooler.ts';

const rejectsWith = (url: string, code: string) =>
  assert.rejects(inspectStore(url), (error) => error instanceof StoreError && error.code === code);

async function addDomains(url: string, count: number): Promise<void> {
  await using store = await openStore(url);
  const names = Array.from({ length: count }, (_, at) => `name-${at}.test`);
  await store.addDomains(names, { source: 'test' });
}

describe('a SQLite file', () => {
  it('is reported as empty, current, older, newer, damaged, and of another program', async () => {
    const file = freshPath();
    const url = `sqlite:${file}`;
    assert.equal((await inspectStore(url)).schema, 'empty');
    assert.ok(!existsSync(file), 'an inspection makes no file');
    await addDomains(url, 500);
    assert.partialDeepStrictEqual(await inspectStore(url), { kind: 'sqlite', schema: 'current', domains: 500 });
    await exec(url, "insert into kysely_migration (name, timestamp) values ('999-later', '')");
    assert.equal((await inspectStore(url)).schema, 'newer');
    await exec(url, "delete from kysely_migration where name > '005'");
    assert.equal((await inspectStore(url)).schema, 'older');
    await exec(url, 'pragma wal_checkpoint(truncate)');
    const handle = openSync(file, 'r+');
    writeSync(handle, Buffer.alloc(4_096, 7), 0, 4_096, 4_096 * 3);
    closeSync(handle);
    await rejectsWith(url, 'corrupt');
    const other = `sqlite:${freshPath()}`;
    await exec(other, 'create table notes (text)');
    await rejectsWith(other, 'not-a-database');
  });
});

onEach([postgres], 'a server', ({ empty }) => {
  it('is reported with its schema, connections and clock, and whether it can be written', async () => {
    const url = await empty();
    const name = new URL(url).pathname.slice(1);
    assert.equal((await inspectStore(url)).schema, 'empty');
    await addDomains(url, 1);
    const state = await inspectStore(url);
    const [limits = {}] = await rows(
      url,
      `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
         - current_setting('reserved_connections')::int as most`,
    );
    assert.partialDeepStrictEqual(state, {
      ...{ kind: 'postgres', schema: 'current', domains: 1, isWritable: true, hasSessions: true },
      connections: { most: limits.most, limitOf: 'server' },
    });
    assert.ok(Math.abs(state.clockAheadMs ?? Number.NaN) < 30_000);
    {
      await using pooler = await startTransactionPooler(url);
      assert.equal((await inspectStore(pooler.url)).hasSessions, false);
    }
    const few = `few_${name}`;
    await exec(
      url,
      `create role ${few} login connection limit 5; grant select on all tables in schema public to ${few}`,
    );
    const { connections: own } = await inspectStore(url.replace('strata@', `${few}@`));
    assert.deepEqual(own, { used: 0, most: 5, limitOf: 'user' });
    await exec(url, `alter database ${name} connection limit 3`);
    assert.partialDeepStrictEqual(await inspectStore(url), { connections: { most: 3, limitOf: 'database' } });
    await exec(url, `alter database ${name} connection limit -1`);
    await exec(url, `alter database ${name} set default_transaction_read_only = on`);
    assert.equal((await inspectStore(url)).isWritable, false);
    await rejectsWith(`postgres://strata@127.0.0.1:${await freePort()}/x`, 'unreachable');
  });
});
