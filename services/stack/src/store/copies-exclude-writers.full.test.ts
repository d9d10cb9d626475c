// A writer that comes and goes during a copy is excluded: its rows would be in neither the snapshot nor the copy.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { DatabaseSync } from 'node:sqlite';
import { it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { copyStore } from '@strata/db';
import { connect, untilWaiting } from '../../../../tests/support/database/connections.ts';
import { openStore, stackSchema } from './index.ts';
import { failsWith, freshPath, postgres, rows } from './test/backends.ts';
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

/** Another connection to a file, in a thread as it blocks: once this returns it is connected; it writes when it can, within 10 s. */
function laterWriter(file: string): Worker {
  const connected = new Int32Array(new SharedArrayBuffer(4));
  const program = `const { DatabaseSync } = require('node:sqlite');
    const { file, write, connected } = require('node:worker_threads').workerData;
    const database = new DatabaseSync(file, { timeout: 10_000 });
    database.prepare('select * from domains').all();
    Atomics.store(connected, 0, 1);
    Atomics.notify(connected, 0);
    database.exec(write);`;
  const worker = new Worker(program, { eval: true, workerData: { file, write: WRITE, connected } });
  assert.notEqual(Atomics.wait(connected, 0, 0, 60_000), 'timed-out');
  return worker;
}

it('a copy is refused while its source or its target is open elsewhere, and none opens the target', async () => {
  const [from, to] = [freshPath(), freshPath()];
  const copy = (options = {}) => copyStore(stackSchema, `sqlite:${from}`, `sqlite:${to}`, options);
  for (const file of [from, to]) {
    await filled(`sqlite:${from}`);
    using other = new DatabaseSync(file);
    other.exec('PRAGMA journal_mode = WAL; SELECT 1 FROM sqlite_schema');
    await assert.rejects(copy(), failsWith('in-use'));
  }
  await copy({ onProgress: () => assert.throws(() => new DatabaseSync(to).exec(WRITE), /locked/) });
  assert.equal((await sourcesIn(`sqlite:${to}`)).length, 1);
});

it('a copy of a file is refused if a writer waits for its end, which then writes', async () => {
  const [from, to] = [freshPath(), freshPath()].map((path) => `sqlite:${path}`) as [string, string];
  await filled(from);
  let ended: Promise<unknown> | undefined;
  const onProgress = () => {
    ended ??= once(laterWriter(from.slice('sqlite:'.length)), 'exit');
  };
  await assert.rejects(copyStore(stackSchema, from, to, { onProgress }), failsWith('in-use'));
  await ended;
  assert.deepEqual([await sourcesIn(from), await sourcesIn(to)], [['x'], []]);
});
