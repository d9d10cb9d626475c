// A worker's file of version 018, which had the tables of all services, opened by today's code.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { migrateTo } from '@strata/db';
import { exec, freshPath, rows } from '../../../../tests/support/database/backends.ts';
import { databaseOf } from '../../../../tests/support/database/connections.ts';
import { released } from '../../../../tests/support/database/released.ts';
import { openStore } from './store.ts';

const SEGMENT = `insert into segments (nonce, worker, gateway, model_sha256, prompt_tokens, cached_tokens, output_tokens,
  ended_at, receipt, worker_signature) values (x'00ff', 'w', 'g', 'a', 1, 0, 2, 5, x'01', x'02')`;

it('keeps the receipts of a file of version 018, and loses the empty tables of other services', async () => {
  const file = freshPath();
  {
    await using db = databaseOf<unknown>(`sqlite:${file}`);
    await db.transaction().execute((tx) => migrateTo(tx, released, '018-advisory-counts'));
  }
  await exec(`sqlite:${file}`, SEGMENT);
  const read = () => rows(`sqlite:${file}`, 'select * from segments');
  const before = await read();
  for (let times = 0; times < 2; times += 1) {
    await using store = await openStore(file);
    assert.equal((await store.segments.list({ limit: 5 })).length, 1);
  }
  assert.deepEqual(await read(), before);
  const tables = await rows(`sqlite:${file}`, "select name from sqlite_schema where type = 'table' order by name");
  const names = tables.map(({ name }) => String(name)).filter((name) => !/^(?:sqlite|kysely)_/.test(name));
  // Every store had an identity, in a row of `settings`: a table with rows is left.
  assert.deepEqual(names, ['segments', 'settings']);
});

it('has a table of receipts and nothing else in a new file', async () => {
  const file = freshPath();
  await (await openStore(file))[Symbol.asyncDispose]();
  const tables = await rows(`sqlite:${file}`, "select name from sqlite_schema where type = 'table'");
  const names = tables.map(({ name }) => String(name)).filter((name) => !/^(?:sqlite|kysely)_/.test(name));
  assert.deepEqual(names, ['segments']);
});
