// A worker's file of version 018, which had the tables of all services, opened by today's code.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { migrateTo } from '@strata/db';
import { exec, freshPath, rows } from '../../../../tests/support/database/backends.ts';
import { databaseOf, tablesOf } from '../../../../tests/support/database/connections.ts';
import { released } from '../../../../tests/support/database/released.ts';
import { openStore } from './store.ts';

const SEGMENT = `insert into segments (nonce, worker, gateway, model_sha256, prompt_tokens, cached_tokens, output_tokens,
  ended_at, receipt, worker_signature) values (x'00ff', 'w', 'g', 'a', 1, 0, 2, 5, x'01', x'02')`;

it('keeps the receipts of a file of version 018, without the empty tables; a new file has receipts alone', async () => {
  const [older, newer] = [freshPath(), freshPath()];
  await using db = databaseOf<unknown>(`sqlite:${older}`);
  await db.transaction().execute((tx) => migrateTo(tx, released, '018-advisory-counts'));
  await exec(`sqlite:${older}`, SEGMENT);
  const read = () => rows(`sqlite:${older}`, 'select * from segments');
  const before = await read();
  for (const [file, count] of [[older, 1] as const, [older, 1] as const, [newer, 0] as const]) {
    await using store = await openStore(file);
    assert.equal((await store.segments.list({ limit: 5 })).length, count);
  }
  assert.deepEqual(await read(), before);
  // Every store had an identity, in a row of `settings`: a table with rows is left.
  assert.deepEqual(await tablesOf(`sqlite:${older}`), ['segments', 'settings']);
  assert.deepEqual(await tablesOf(`sqlite:${newer}`), ['segments']);
});
