// A store of version 018, which had the tables of all services, opened by today's code.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { dropForeignTables, type Migrations, migrate, migrateTo } from '@strata/db';
import { exec, rows } from '../../../../tests/support/database/backends.ts';
import { tablesOf } from '../../../../tests/support/database/connections.ts';
import { released } from '../../../../tests/support/database/released.ts';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { openStore } from './store.ts';
import { databaseOf, kept, onEach } from './test/backends.ts';

/** Of each table: `alerts` is of the stack service, and left since it has a row. */
const ROWS: Readonly<Record<string, string>> = casesOf('gateway', 'rows of each table');

onEach(kept, 'a store of an older version', (backend) => {
  for (const last of ['007-segments', '018-advisory-counts'])
    it(`with the schema ${last} keeps its rows, and loses the empty tables of other services`, async () => {
      const url = await backend.empty();
      await using db = databaseOf(url);
      await db.transaction().execute((tx) => migrateTo(tx, released, last));
      const filled = Object.entries(ROWS).filter(([table]) => table !== 'counters' || last > '012');
      for (const [table, row] of filled) await exec(url, `insert into ${table} ${row}`);
      const read = () => Promise.all(filled.map(([table]) => rows(url, `select * from ${table} order by 1`)));
      const before = await read();
      const tables = await tablesOf(url);
      const another: Migrations = { ...released, '019-another': (tx) => dropForeignTables(tx, ['settings']) };
      await assert.rejects(migrate(db, another), { code: 'names-taken' });
      assert.deepEqual(await tablesOf(url), tables, 'the service of another database has changed nothing');
      for (let times = 0; times < 2; times += 1) {
        await using store = await openStore(url);
        assert.deepEqual(await store.answers.receipt('rwr_1', 'key_1'), { body: '{}', isEntered: true });
        assert.deepEqual([...(await store.reputations.read()).texts], [['peer', '{}']]);
        assert.deepEqual([await store.segments.list({ limit: 5 }), (await store.keys.list()).length], [[], 1]);
      }
      // Later columns of keys have their defaults.
      assert.partialDeepStrictEqual(await read(), before);
      const added = [
        ...['account_usage', 'admin_actions', 'model_prices', 'teams', 'begun_answers'],
        'gateways',
        ...['head', 'keys', 'leaves', 'subtrees'].map((of) => `ledger_${of}`),
        ...['stored_answers', 'stored_answer_parts', 'minute_usage'],
      ];
      const expected = [...Object.keys(ROWS), ...added, 'quota_usage', 'segments', 'token_reservations'];
      assert.deepEqual(await tablesOf(url), expected.sort());
    });
});
