// A database looked at before it is used, in every state that it can be in.
import assert from 'node:assert/strict';
import { mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { inspectStore } from './inspect-store.ts';
import { openStore } from './store.ts';
import { StoreError } from './store-error.ts';
import { exec, onEach, postgres, rows } from './test/places.ts';
import { freePort } from './test/postgres.ts';
import { startTransactionPooler } from './test/transaction-pooler.ts';

const rejectsWith = (url: string, code: string) =>
  assert.rejects(inspectStore(url), (error) => error instanceof StoreError && error.code === code);

describe('a SQLite file', () => {
  it('is told empty, current, older, newer, damaged, and of another program', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'strata-inspect-'));
    try {
      const file = path.join(directory, 'strata.db');
      const url = `sqlite:${file}`;
      assert.equal((await inspectStore(url)).schema, 'empty');
      await assert.rejects(stat(file), 'a look makes no file');
      {
        await using store = await openStore(url);
        await store.addDomains(
          Array.from({ length: 500 }, (_, at) => `name-${at}.test`),
          { source: 'test' },
        );
        const { schema, domains, kind } = await inspectStore(url);
        assert.deepEqual([kind, schema, domains], ['sqlite', 'current', 500]);
      }
      const change = (text: string) => {
        using database = new DatabaseSync(file);
        database.exec(text);
      };
      change("insert into kysely_migration (name, timestamp) values ('999-later', '')");
      assert.equal((await inspectStore(url)).schema, 'newer');
      change("delete from kysely_migration where name > '005'");
      assert.equal((await inspectStore(url)).schema, 'older');
      change('pragma wal_checkpoint(truncate)');
      const handle = await open(file, 'r+');
      await handle.write(Buffer.alloc(4_096, 7), 0, 4_096, 4_096 * 3);
      await handle.close();
      await rejectsWith(url, 'corrupt');
      const other = path.join(directory, 'other.db');
      using database = new DatabaseSync(other);
      database.exec('create table notes (text)');
      await rejectsWith(`sqlite:${other}`, 'not-a-database');
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});

onEach([postgres], 'a server', ({ empty }) => {
  it('is told with its schema, connections and clock, and whether it may be written', async () => {
    const url = await empty();
    const name = new URL(url).pathname.slice(1);
    assert.equal((await inspectStore(url)).schema, 'empty');
    {
      await using store = await openStore(url);
      await store.addDomains(['a.test'], { source: 'test' });
    }
    const state = await inspectStore(url);
    assert.deepEqual([state.kind, state.schema, state.domains, state.isWritable], ['postgres', 'current', 1, true]);
    const [limits = {}] = await rows(
      url,
      `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
         - current_setting('reserved_connections')::int as most`,
    );
    assert.deepEqual([state.connections?.most, state.connections?.limitOf], [limits.most, 'server']);
    assert.equal(state.hasSessions, true);
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
    const { connections } = await inspectStore(url);
    assert.deepEqual([connections?.most, connections?.limitOf], [3, 'database']);
    await exec(url, `alter database ${name} connection limit -1`);
    assert.ok(Math.abs(state.clockAheadMs ?? Number.NaN) < 30_000);
    await exec(url, `alter database ${name} set default_transaction_read_only = on`);
    assert.equal((await inspectStore(url)).isWritable, false);
    await rejectsWith(`postgres://strata@127.0.0.1:${await freePort()}/x`, 'unreachable');
  });
});
