// A disk that is full, read-only, no directory, or has something in the way.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { checkLog } from './index.ts';
import { SEGMENT_LEAVES } from './journal.ts';
import { LogError } from './log-error.ts';
import { idOf, leafOf, temporaryDirectory, VERIFIERS } from './test/fixture.ts';
import { failsWith, openIn } from './test/log-on-disk.ts';

describe('a disk that refuses', () => {
  it('by being full fails the batch, keeps what was acknowledged, and goes on when there is room', async (t) => {
    await using directory = await temporaryDirectory();
    // A file-size limit is the one full disk that a test can have without being root.
    const script = path.join(import.meta.dirname, 'test/append-until-full.ts');
    const command = `trap '' XFSZ; ulimit -f 64; exec "$0" "$1" "$2"`;
    // What a run measures of coverage would be cut off by the limit, too.
    const env = { ...process.env, NODE_V8_COVERAGE: '' };
    const run = spawnSync('bash', ['-c', command, process.execPath, script, directory.path], { encoding: 'utf8', env });
    if (run.error) return t.skip('no bash here');
    const told = JSON.parse(run.stdout) as { acknowledged: number; code: string; again: string; sizeAfter: number };
    assert.equal(told.code, 'disk-full', run.stderr);
    assert.equal(told.again, 'disk-full');
    assert.ok(told.acknowledged > 0);
    assert.equal(told.sizeAfter, told.acknowledged);
    assert.equal((await checkLog(directory.path, VERIFIERS)).size, told.acknowledged);
    await using log = await openIn(directory.path);
    assert.equal((await log.append(leafOf(told.acknowledged))).index, told.acknowledged);
  });

  it('by being read-only says so', async (t) => {
    await using directory = await temporaryDirectory();
    await mkdir(path.join(directory.path, 'log'), { mode: 0o555 });
    const uid = process.getuid?.();
    if (uid === undefined) return t.skip('no users here');
    // Root may write anywhere: for it, be nobody for a moment.
    if (uid === 0) process.seteuid?.(65_534);
    try {
      await assert.rejects(openIn(path.join(directory.path, 'log')), failsWith('read-only'));
    } finally {
      if (uid === 0) process.seteuid?.(0);
    }
  });

  it('by not being a directory says so', async () => {
    await using directory = await temporaryDirectory();
    const file = path.join(directory.path, 'file');
    await writeFile(file, '');
    await assert.rejects(openIn(file), failsWith('io'));
  });

  it('for tiles keeps the leaves in the journal and serves on', async () => {
    await using directory = await temporaryDirectory();
    await writeFile(path.join(directory.path, 'tile'), 'in the way');
    {
      await mkdir(path.join(directory.path, 'journal'));
      await writeFile(path.join(directory.path, 'journal', '0'.repeat(16)), '');
      await using log = await openIn(directory.path);
      await Promise.all(Array.from({ length: SEGMENT_LEAVES + 5 }, (_, number) => log.append(leafOf(number))));
      assert.equal((await log.receipt(idOf(leafOf(7))))?.index, 7);
      await log[Symbol.asyncDispose]();
      const { backgroundError } = log.stats();
      assert.ok(backgroundError instanceof LogError);
      assert.equal(backgroundError.code, 'io');
    }
    await rm(path.join(directory.path, 'tile'));
    await using log = await openIn(directory.path);
    assert.equal(log.size, SEGMENT_LEAVES + 5);
    await log[Symbol.asyncDispose]();
    assert.equal((await checkLog(directory.path, VERIFIERS)).size, SEGMENT_LEAVES + 5);
    assert.ok(
      existsSync(path.join(directory.path, 'tile/1/000')) === false &&
        existsSync(path.join(directory.path, 'tile/0/015')),
    );
  });
});
