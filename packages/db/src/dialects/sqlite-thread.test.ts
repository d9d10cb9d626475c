import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { it } from 'node:test';
import { CompiledQuery, Kysely, sql } from 'kysely';
import { temporaryDirectory } from '../../../../tests/support/temporary-directory.ts';
import { until } from '../../../../tests/support/until.ts';
import { SqliteConnection } from './sqlite-connection.ts';
import { openFile, sqliteDialect, sqliteFile } from './sqlite-dialect.ts';
import { SqliteThread } from './sqlite-thread.ts';

const MANY = Array.from({ length: 100 });

it('a busy file moves to a thread: the same results, errors and transactions, and it ends with the last statement', async () => {
  await using directory = await temporaryDirectory();
  const file = `${directory.path}/a.db`;
  const db = new Kysely<unknown>({ dialect: sqliteDialect(openFile(file), sqliteFile(file)) });
  await sql`create temp table main_only (id integer)`.execute(db);
  await sql`create table t (id integer primary key, bytes blob) strict`.execute(db);
  const use = () => db.transaction().execute((tx) => sql`select * from main_only`.execute(tx));
  await until(async () => (await Promise.allSettled(MANY.map(use))).at(-1)?.status === 'rejected');
  assert.deepEqual((await sql`select * from main_only`.execute(db)).rows, [], 'a small statement takes no message');
  const bytes = new Uint8Array(10_000);
  const insert = () => sql`insert into t (bytes) values (${bytes})`.execute(db);
  assert.partialDeepStrictEqual(await insert(), { insertId: 1n, numAffectedRows: 1n });
  const failing = (tx: Kysely<unknown>) =>
    Promise.all([sql`select * from missing`.execute(tx), sql`select 2`.execute(tx)]);
  await assert.rejects(db.transaction().execute(failing), { message: 'no such table: missing' });
  const rows = await db.transaction().execute((tx) => sql`select * from t`.execute(tx));
  assert.deepEqual(rows.rows, [{ id: 1, bytes }]);
  await assert.rejects(
    db.transaction().execute(async (tx) => {
      await sql`insert into t (bytes) values (x'')`.execute(tx);
      await sql`insert into t (id) values (1)`.execute(tx);
    }),
    { code: 'ERR_SQLITE_ERROR', message: 'UNIQUE constraint failed: t.id' },
  );
  const last = insert();
  await db.destroy();
  assert.equal((await last).insertId, 2n);
  assert.deepEqual([existsSync(file), existsSync(`${file}-wal`)], [true, false]);
});

it('a thread that ends rejects its statement, and the main thread goes on', async () => {
  const main = new SqliteConnection(new DatabaseSync(':memory:'));
  await using thread = new SqliteThread({ file: ':memory:', options: {}, pragmas: '' }, main);
  assert.equal(
    MANY.slice(50)
      .map(() => thread.connection())
      .at(-1),
    main,
  );
  await main.executeQuery(CompiledQuery.raw('select ?', ['x'.repeat(65_536)]));
  await until(() => thread.connection() !== main);
  await thread.connection().executeQuery(CompiledQuery.raw('BEGIN'));
  const slow = 'with recursive n(i) as (select 1 union all select i + 1 from n limit 1000000) select max(i) from n';
  const lost = assert.rejects(thread.connection().executeQuery(CompiledQuery.raw(slow)), { code: 'connection-lost' });
  await thread[Symbol.asyncDispose]();
  await lost;
  assert.equal(thread.connection(), main);
});

it('without a thread the main thread goes on, and does not start another one at once', () => {
  const main = new SqliteConnection(new DatabaseSync(':memory:'));
  let starts = 0;
  const file = {
    ...{ options: {}, pragmas: '' },
    get file(): string {
      starts += 1;
      throw new Error('no more threads');
    },
  };
  const thread = new SqliteThread(file, main);
  for (const _ of MANY) assert.equal(thread.connection(), main);
  assert.equal(starts, 1);
});
