// A disk that is full, read-only, no directory, or has another file at a path of the log.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe } from 'node:test';
import { checkLog } from './index.ts';
import { SEGMENT_LEAVES } from './journal.ts';
import { appendAll, upTo } from './test/conformance.ts';
import { idOf, leafOf, VERIFIERS } from './test/fixture.ts';
import { failsWith, inDirectory, openIn } from './test/log-on-disk.ts';

describe('a disk', () => {
  inDirectory(
    'that is full fails the batch, keeps what was acknowledged, and later has space',
    async (directory, t) => {
      // A file-size limit is the one full disk that a test can have without being root.
      const script = path.join(import.meta.dirname, 'test/append-until-full.ts');
      const command = `trap '' XFSZ; ulimit -f 64; exec "$0" "$1" "$2"`;
      // The coverage report of the process would be cut off by the limit, too.
      const env = { ...process.env, NODE_V8_COVERAGE: '' };
      const run = spawnSync('bash', ['-c', command, process.execPath, script, directory], { encoding: 'utf8', env });
      if (run.error) return t.skip('no bash here');
      const { acknowledged, code, again, sizeAfter } = JSON.parse(run.stdout);
      assert.deepEqual([code, again], ['disk-full', 'disk-full'], run.stderr);
      assert.ok(acknowledged > 0);
      assert.equal(sizeAfter, acknowledged);
      assert.equal((await checkLog(directory, VERIFIERS)).size, acknowledged);
      await using log = await openIn(directory);
      assert.equal((await log.append(leafOf(acknowledged))).index, acknowledged);
    },
  );

  inDirectory('that is read-only is reported', async (directory, t) => {
    await mkdir(path.join(directory, 'log'), { mode: 0o555 });
    const uid = process.getuid?.();
    if (uid === undefined) return t.skip('no users here');
    // Root may write anywhere: run as the user nobody for a moment.
    if (uid === 0) process.seteuid?.(65_534);
    try {
      await assert.rejects(openIn(path.join(directory, 'log')), failsWith('read-only'));
    } finally {
      if (uid === 0) process.seteuid?.(0);
    }
  });

  inDirectory('with a file for the directory is reported', async (directory) => {
    const file = path.join(directory, 'file');
    await writeFile(file, '');
    await assert.rejects(openIn(file), failsWith('io'));
  });

  inDirectory('that refuses tiles keeps the leaves in the journal and serves on', async (directory) => {
    const at = (name: string) => path.join(directory, name);
    const leaves = SEGMENT_LEAVES + 5;
    await writeFile(at('tile'), 'not a directory');
    {
      await mkdir(at('journal'));
      await writeFile(at(`journal/${'0'.repeat(16)}`), '');
      await using log = await openIn(directory);
      await appendAll(log, upTo(leaves));
      assert.equal((await log.receipt(idOf(leafOf(7))))?.index, 7);
      await log[Symbol.asyncDispose]();
      assert.ok(failsWith('io')(log.stats().backgroundError));
    }
    await rm(at('tile'));
    {
      await using log = await openIn(directory);
      assert.equal(log.size, leaves);
    }
    assert.equal((await checkLog(directory, VERIFIERS)).size, leaves);
    assert.deepEqual([existsSync(at('tile/1/000')), existsSync(at('tile/0/015'))], [false, true]);
  });
});
