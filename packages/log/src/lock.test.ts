import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { acquireLock } from './lock.ts';
import { LogError } from './log-error.ts';
import { temporaryDirectory } from './test/fixture.ts';

const isLocked = (error: unknown): boolean => error instanceof LogError && error.code === 'locked';

describe('the lock', () => {
  it('is held by one, and free after disposal', async () => {
    await using directory = await temporaryDirectory();
    const file = path.join(directory.path, 'lock');
    const lock = await acquireLock(file);
    await assert.rejects(acquireLock(file), isLocked);
    await lock[Symbol.asyncDispose]();
    await using _next = await acquireLock(file);
    assert.deepEqual(readdirSync(directory.path), ['lock']);
  });

  it('is respected while its process lives, and taken over when that is dead', async () => {
    await using directory = await temporaryDirectory();
    const file = path.join(directory.path, 'lock');
    const module = path.join(import.meta.dirname, 'lock.ts');
    const source = `import(${JSON.stringify(module)}).then(async ({ acquireLock }) => { await acquireLock(${JSON.stringify(file)}); console.log('held'); setInterval(() => {}, 1000); })`;
    const child = spawn(process.execPath, ['-e', source], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((held) => child.stdout.once('data', held));
    await assert.rejects(acquireLock(file), isLocked);
    const gone = new Promise((end) => child.once('close', end));
    child.kill('SIGKILL');
    await gone;
    await using _lock = await acquireLock(file);
    assert.match(await readFile(file, 'utf8'), new RegExp(`^${process.pid} `));
  });

  it('knows a reused process number by its start time, and takes over a garbled file', async () => {
    await using directory = await temporaryDirectory();
    const file = path.join(directory.path, 'lock');
    const stale = process.platform === 'linux' ? [`${process.pid} 1\n`, '', 'garbage', '-1 5', '0 0'] : ['', 'garbage'];
    for (const content of stale) {
      await writeFile(file, content);
      await using _lock = await acquireLock(file);
    }
  });

  it('goes to one of many that find it stale at once', async () => {
    await using directory = await temporaryDirectory();
    const file = path.join(directory.path, 'lock');
    await writeFile(file, '999999999 1\n');
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => acquireLock(file)));
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
    for (const result of results) if (result.status === 'rejected') assert.ok(isLocked(result.reason), result.reason);
  });
});
