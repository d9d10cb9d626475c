// The lock of a log. That it ends with a process that is killed: crash.full.test.ts.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe } from 'node:test';
import { acquireLock } from './lock.ts';
import { failsWith, inDirectory } from './test/log-on-disk.ts';

describe('the lock', () => {
  inDirectory('is held by one, and free after disposal', async (directory) => {
    const file = path.join(directory, 'lock');
    const lock = await acquireLock(file);
    await assert.rejects(acquireLock(file), failsWith('locked'));
    await lock[Symbol.asyncDispose]();
    await using _next = await acquireLock(file);
    assert.deepEqual(readdirSync(directory), ['lock']);
  });

  inDirectory('detects a reused process number by its start time, and replaces a garbled file', async (directory) => {
    const file = path.join(directory, 'lock');
    const stale = process.platform === 'linux' ? [`${process.pid} 1\n`, '', 'garbage', '-1 5', '0 0'] : ['', 'garbage'];
    for (const content of stale) {
      await writeFile(file, content);
      await using _lock = await acquireLock(file);
      assert.match(await readFile(file, 'utf8'), new RegExp(`^${process.pid} `));
    }
  });

  inDirectory('is given to one of many that find it stale at once', async (directory) => {
    const file = path.join(directory, 'lock');
    await writeFile(file, '999999999 1\n');
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => acquireLock(file)));
    const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    assert.deepEqual([refused.length, refused.every(failsWith('locked'))], [7, true]);
  });
});
