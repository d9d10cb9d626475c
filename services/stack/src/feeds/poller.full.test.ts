// The poller in a process that is killed.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { it } from 'node:test';
import { temporaryDirectory } from '../../../../tests/support/temporary-directory.ts';
import { openStore } from '../store/index.ts';
import { subscribeTo } from '../test/polling.ts';

it('the poller goes on after its process was killed: nothing is lost, nothing is counted twice', async () => {
  await using directory = await temporaryDirectory();
  const url = `sqlite:${path.join(directory.path, 'x.db')}`;
  await using store = await openStore(url);
  await subscribeTo(store, 4_000);
  const main = path.join(import.meta.dirname, '../test/poller-process.ts');
  const start = (aheadMs = 0) =>
    spawn(process.execPath, [main, url, String(aheadMs)], { stdio: ['ignore', 'pipe', 'inherit'] });
  for (const min of [300, 500]) {
    const child = start();
    const exited = once(child, 'exit');
    for await (const line of createInterface({ input: child.stdout })) if (Number(line) >= min) child.kill('SIGKILL');
    await exited;
  }
  const { items, mentions, polled } = await store.feeds.summary();
  const left = await store.feeds.schedule.countDue(new Date());
  assert.ok(left > 0 && left <= 3_200, `${left} are left`);
  assert.deepEqual([items, mentions], [polled, polled]);
  const claimed = 4_000 - left - polled;
  assert.ok(claimed <= 2 * 32, `${claimed} were in progress`);
  await once(start(3 * 60_000), 'exit');
  const summary = await store.feeds.summary();
  assert.deepEqual(
    [summary.items, summary.mentions, await store.feeds.schedule.countDue(new Date())],
    [4_000, 4_000, 0],
  );
});
