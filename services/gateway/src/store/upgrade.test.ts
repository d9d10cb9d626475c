// A store of version 018, which had the tables of all services, opened by today's code.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { migrateTo } from '@strata/db';
import { exec, pathOf, rows } from '../../../../tests/support/database/backends.ts';
import { released } from '../../../../tests/support/database/released.ts';
import { openStore } from './store.ts';
import { databaseOf, kept, onEach } from './test/backends.ts';

const ROWS = [
  "insert into api_keys (id, hash, tier, created_at) values ('key_1', 'hash', 'free', 1)",
  "insert into quota_usage (key_id, day, used) values ('key_1', '2026-01-01', 7)",
  "insert into answer_receipts (seq, id, key_id, body) values (3, 'rwr_1', 'key_1', '{}')",
  "insert into token_usage values ('key_1', '2026-01-01', 'm', 1, 2, 0, 3)",
  "insert into standings (peer, standing) values ('peer', '{}')",
  "insert into settings (name, value) values ('answers-entered', '3'), ('address-salt', 'c2FsdA==')",
  "insert into counters (name, value) values ('keys', 2), ('gateway-term', 4)",
];
const OWN = ['api_keys', 'quota_usage', 'answer_receipts', 'token_usage', 'standings', 'settings', 'counters'];

onEach(kept, 'a store of version 018', (backend) => {
  for (const last of ['007-segments', '012-counters', '018-advisory-counts'])
    it(`with the schema ${last} keeps its rows, and loses the empty tables of other services`, async () => {
      const url = await backend.empty();
      {
        await using db = databaseOf(url);
        await db.transaction().execute((tx) => migrateTo(tx, released, last));
      }
      const hasCounters = last >= '012';
      for (const sql of ROWS) if (hasCounters || !sql.includes('counters')) await exec(url, sql);
      // A table with rows is left, whosever it is.
      await exec(url, "insert into alerts values ('al_1', 1, 'anomaly', 1, 's', null, null, 't', 'd', 'r')");
      const own = OWN.filter((name) => hasCounters || name !== 'counters');
      const read = () => Promise.all([...own, 'alerts'].map((name) => rows(url, `select * from ${name} order by 1`)));
      const before = await read();
      for (let times = 0; times < 2; times += 1) {
        await using store = await openStore(url);
        assert.equal(await store.answers.receipt('rwr_1', 'key_1'), '{}');
        assert.deepEqual(await store.segments.list({ limit: 5 }), []);
        assert.deepEqual([...(await store.reputations.all())], [['peer', '{}']]);
        assert.equal(await store.revocations(), hasCounters ? 2 : 0);
        assert.equal((await store.quota.take('key_1', '2026-01-02', 50)).used, 1);
        await exec(url, "delete from quota_usage where day = '2026-01-02'");
      }
      const after = await read();
      // Later columns of keys have their defaults.
      assert.partialDeepStrictEqual(after, before);
      const tables = pathOf(url)
        ? "select name from sqlite_schema where type = 'table' and name not like 'sqlite%'"
        : 'select tablename as name from pg_tables where schemaname = current_schema()';
      const names = (await rows(url, `${tables} order by name`)).map(({ name }) => String(name));
      const expected = [...OWN, 'alerts', 'segments', 'kysely_migration', 'kysely_migration_lock'].toSorted();
      assert.deepEqual(names, expected);
    });
});
