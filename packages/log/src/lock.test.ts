// The lock of a log. That it ends with a process that is killed: crash.full.test.ts.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { acquireLock } from './lock.ts';
import { temporaryDirectory } from './test/fixture.ts';
import { failsWith } from './test/log-on-disk.ts';

describe('the lock', () => {
  it('is held by one, and free after disposal', async () => {
    await using directory = await temporaryDirectory();
    const file = path.join(directory.path, 'lock');
    const lock = await acquireLock(file);
    await assert.rejects(acquireLock(file), failsWith('locked'));
    await lock[Symbol.asyncDispose]();
    await using _next = await acquireLock(file);
    assert.deepEqual(readdirSync(directory.path), ['lock']);
  });

  it('knows a reused process number by its start time, and takes over a garbled file', async () => {
    await using directory = await temporaryDirectory();
    const file = path.join(directory.path, 'lock');
    const stale = process.platform === 'linux' ? [`${process.pid} 1\n`, '', 'garbage', '-1 5', '0 0'] : ['', 'garbage'];
    for (const content of stale) {
      await writeFile(file, content);
      await using _lock = await acquireLock(file);
      assert.match(await readFile(file, 'utf8'), new RegExp(`^${process.pid} `));
    }
  });

  it('goes to one of many that find it stale at once', async () => {
    await using directory = await temporaryDirectory();
    const file = path.join(directory.path, 'lock');
    await writeFile(file, '999999999 1\n');
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => acquireLock(file)));
    const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    assert.equal(refused.length, 7);
    assert.ok(refused.every(failsWith('locked')));
  });
});
