// A writer that comes and goes during a copy is excluded: its rows would be in neither the snapshot nor the copy.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { it } from 'node:test';
import { copyStore } from '@strata/db';
import { connect, untilWaiting } from '../../../../tests/support/database/connections.ts';
import { openStore, stackSchema } from './index.ts';
import { freshPath, postgres, rows } from './test/backends.ts';
import { confirm, day, GOOGLE, recordScan, scanOf } from './test/scans.ts';

async function filled(url: string): Promise<string> {
  await using store = await openStore(url);
  await recordScan(store, scanOf('a.com', day(0), GOOGLE), confirm);
  return url;
}
const WRITE = "update domains set source = 'x'";
const sourcesIn = async (url: string) => (await rows(url, 'select source from domains')).map(({ source }) => source);

it('a copy of PostgreSQL has every row that its source has at the end', { skip: postgres.skip }, async () => {
  const [url, target] = [await filled(await postgres.empty()), await postgres.empty()];
  await (await openStore(target))[Symbol.asyncDispose]();
  await using held = await connect(target, 'begin; lock table domains');
  const copying = copyStore(stackSchema, url, target);
  await untilWaiting(target);
  await using writer = await connect(url, 'set lock_timeout = 100');
  await assert.rejects(writer.query(WRITE), /lock timeout/);
  await held.query('rollback');
  await copying;
  assert.deepEqual(await sourcesIn(target), await sourcesIn(url));
});

it('a copy of a file has every row that its source has at the end', async () => {
  const [from, to] = [freshPath(), freshPath()];
  await filled(`sqlite:${from}`);
  const writer = new DatabaseSync(from, { timeout: 0 });
  const refused: unknown[] = [];
  const onProgress = () => {
    assert.throws(() => writer.exec(WRITE), /locked/);
    refused.push(1);
  };
  await copyStore(stackSchema, `sqlite:${from}`, `sqlite:${to}`, { onProgress });
  writer.close();
  assert.ok(refused.length > 0);
  assert.deepEqual(await sourcesIn(`sqlite:${to}`), await sourcesIn(`sqlite:${from}`));
});
