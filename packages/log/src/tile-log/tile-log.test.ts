// A log on disk: what every log does, segments, its lock; what opening makes of the files that a crash, a power
// failure or a user left; and a disk that is full, read-only, or has another file at a path of the log.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, readFile, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe } from 'node:test';
import { temporaryDirectory } from '../../../../tests/support/temporary-directory.ts';
import { until } from '../../../../tests/support/until.ts';
import { checkLog, LogError, openLog } from '../index.ts';
import { appendAll, type LogBackend, logConformance, upTo } from '../test/conformance.ts';
import { idOf, leafOf, ORIGIN, testSigner, VERIFIERS } from '../test/fixture.ts';
import * as disk from '../test/log-on-disk.ts';
import { publicLogConformance } from '../test/public-log.ts';
import { SEGMENT_LEAVES } from './journal.ts';

const { alter, failsWith, inDirectory, logOf, memoryCopy, newestSegment, openIn, sizeOf } = disk;
const onDisk: LogBackend = {
  name: 'on disk',
  skip: false,
  async fresh() {
    const directory = await temporaryDirectory();
    return { open: () => openIn(directory.path), [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose]() };
  },
};
logConformance(onDisk);
publicLogConformance(onDisk);

describe('an open log on disk', () => {
  inDirectory('batches appends, and is locked against a second writer', async (directory) => {
    await using log = await openIn(directory);
    await appendAll(log, upTo(300));
    assert.ok(log.stats().commits < 30);
    await assert.rejects(openIn(directory), failsWith('locked'));
  });

  inDirectory('moves complete segments into tiles and drops them from the journal', async (directory) => {
    const leaves = 2 * SEGMENT_LEAVES + 700;
    await logOf(directory, leaves);
    const report = await checkLog(directory, VERIFIERS);
    assert.deepEqual([report.size, report.checkpointSize], [leaves, leaves]);
    assert.deepEqual(readdirSync(path.join(directory, 'journal')), [String(2 * SEGMENT_LEAVES).padStart(16, '0')]);
  });

  inDirectory('signs with a new key after a rotation, and opens with it', async (directory) => {
    await logOf(directory, 3);
    const log = await openLog({ directory, origin: ORIGIN, signer: testSigner(3) });
    assert.equal(log.size, 3);
    await log[Symbol.asyncDispose]();
    await assert.rejects(checkLog(directory, VERIFIERS), failsWith('corrupt-checkpoint'));
    await checkLog(directory);
  });
});

describe('a restart', () => {
  inDirectory('drops a batch cut off in writing, at any byte of it', async (directory) => {
    await logOf(directory, 10);
    const segment = newestSegment(directory);
    const complete = statSync(segment).size;
    {
      await using log = await openIn(directory);
      await log.append(leafOf(10));
    }
    const longer = readFileSync(segment);
    for (let cut = complete; cut < longer.length; cut += 7) {
      await writeFile(segment, longer.subarray(0, cut));
      await rm(path.join(directory, 'checkpoint'));
      await using log = await openIn(directory);
      assert.deepEqual([log.size, statSync(segment).size, (await log.append(leafOf(10))).index], [10, complete, 10]);
    }
    assert.equal((await checkLog(directory, VERIFIERS)).size, 11);
  });

  inDirectory('refuses a journal damaged before its end, and leaves it as it is', async (directory) => {
    for (let number = 0; number < 3; number++) {
      await using log = await openIn(directory);
      await log.append(leafOf(number));
    }
    const segment = newestSegment(directory);
    const bytes = readFileSync(segment);
    for (let at = 0; at < Math.floor((bytes.length * 2) / 3); at += 5) {
      await alter(segment, at);
      await assert.rejects(openIn(directory), failsWith('corrupt-journal'));
      await alter(segment, at);
    }
    assert.deepEqual(readFileSync(segment), bytes);
    await using log = await openIn(directory);
    assert.equal(log.size, 3);
  });

  inDirectory('reports acknowledged leaves that are lost', async (directory) => {
    await logOf(directory, 5);
    await truncate(newestSegment(directory), 0);
    await assert.rejects(checkLog(directory), failsWith('lost-leaves'));
    await assert.rejects(openIn(directory), failsWith('lost-leaves'));
    await rm(path.join(directory, 'journal'), { recursive: true });
    await assert.rejects(openIn(directory), failsWith('lost-leaves'));
  });

  inDirectory(
    'refuses less than was signed, by the copy outside of the directory if the file is missing',
    async (directory) => {
      const copy = memoryCopy();
      const open = () => openIn(directory, ORIGIN, copy);
      {
        await using log = await open();
        for (let number = 0; number < 9; number++) await log.append(leafOf(number));
        await until(() => sizeOf(copy.note) === 9);
      }
      const [segment, complete] = [newestSegment(directory), readFileSync(newestSegment(directory))];
      for (const kept of [complete.length - 1, Math.floor(complete.length / 2), 0]) {
        await truncate(segment, kept);
        await rm(path.join(directory, 'checkpoint'), { force: true });
        await assert.rejects(open(), {
          code: 'lost-leaves',
          message: /^the checkpoint in the database covers 9 leaves, the/,
        });
        assert.equal(statSync(segment).size, kept, 'it is left as it is');
        await writeFile(segment, complete);
      }
      await rm(path.join(directory, 'journal'), { recursive: true });
      await assert.rejects(open(), failsWith('lost-leaves'));
    },
  );

  inDirectory(
    'opens with a copy that is behind, missing, or signed by an earlier key; not with another',
    async (directory) => {
      const copy = memoryCopy();
      await logOf(directory, 5);
      const [behind, note] = ['', await readFile(path.join(directory, 'checkpoint'), 'utf8')];
      await logOf(directory, 4);
      for (const left of [behind, note]) {
        copy.note = left;
        await using log = await openIn(directory, ORIGIN, copy);
        assert.equal(log.size, 9);
        await log[Symbol.asyncDispose]();
        assert.deepEqual([sizeOf(copy.note), copy.note], [9, log.checkpoint()], 'brought up to date');
      }
      await using rotated = await openLog({ directory, origin: ORIGIN, signer: testSigner(3), checkpointCopy: copy });
      assert.equal(rotated.size, 9);
      await rotated[Symbol.asyncDispose]();
      copy.note = note.replace('\n5\n', '\n4\n');
      await assert.rejects(openIn(directory, ORIGIN, copy), failsWith('corrupt-checkpoint'));
    },
  );

  inDirectory('continues if the copy cannot be written, and reports it', async (directory) => {
    const read = async () => {
      await assert.rejects(openIn(directory), failsWith('locked'), 'it is read under the lock');
      return undefined;
    };
    const copy = { read, write: () => Promise.reject(new Error('no space')) };
    await using log = await openIn(directory, ORIGIN, copy);
    await log.append(leafOf(0));
    assert.ok(failsWith('io')(log.stats().backgroundError));
  });

  inDirectory('removes what killed processes left of files that they replaced', async (directory) => {
    await logOf(directory, 1);
    const old = new Date(Date.now() - 3_600_000);
    for (const name of ['checkpoint.4711.new', 'checkpoint.1.new', 'checkpoint.new']) {
      await writeFile(path.join(directory, name), '');
      await utimes(path.join(directory, name), old, old);
    }
    await logOf(directory, 2);
    assert.deepEqual(readdirSync(directory).sort(), ['checkpoint', 'journal', 'lock']);
  });

  inDirectory('distinguishes a missing journal from an empty log', async (directory) => {
    await logOf(directory, SEGMENT_LEAVES + 1);
    await rm(path.join(directory, 'journal'), { recursive: true });
    await rm(path.join(directory, 'checkpoint'));
    await assert.rejects(openIn(directory), failsWith('corrupt-journal'));
  });

  inDirectory('refuses an altered checkpoint and another origin, and needs no checkpoint', async (directory) => {
    await logOf(directory, 300);
    const file = path.join(directory, 'checkpoint');
    const note = readFileSync(file);
    for (let at = note.indexOf('300'); at < note.indexOf('—'); at += 3) {
      await alter(file, at);
      await assert.rejects(openIn(directory), (error) => error instanceof LogError, `byte ${at}`);
      await alter(file, at);
    }
    const message = /set the origin back to .+, or start a log/;
    await assert.rejects(openIn(directory, 'other.example/ledger'), { code: 'wrong-origin', message });
    await writeFile(file, '');
    await using log = await openIn(directory);
    assert.equal(log.size, 300);
  });

  inDirectory('refuses tiles that are missing, cut off or altered', async (directory) => {
    await logOf(directory, SEGMENT_LEAVES + 1);
    const tile = path.join(directory, 'tile/0/003');
    const bytes = readFileSync(tile);
    for (const damage of [() => alter(tile, 77), () => truncate(tile, 100), () => rm(tile)]) {
      await damage();
      await assert.rejects(openIn(directory), failsWith('corrupt-tile'));
      await assert.rejects(checkLog(directory), failsWith('corrupt-tile'));
    }
    await writeFile(tile, bytes);
    await alter(path.join(directory, 'tile/entries/003'), 77);
    await assert.rejects(checkLog(directory), failsWith('corrupt-tile'));
    await using log = await openIn(directory);
    await assert.rejects(log.receipt(idOf(leafOf(768))), failsWith('corrupt-tile'));
    assert.equal((await log.receipt(idOf(leafOf(0))))?.index, 0);
  });

  inDirectory('serves no tile that is cut off or altered, and says which', async (directory) => {
    const leaves = 65_536 + SEGMENT_LEAVES + 1;
    await logOf(directory, leaves);
    await using log = await openIn(directory);
    for (const tile of ['tile/0/003', 'tile/entries/003']) {
      const file = path.join(directory, tile);
      const [bytes, refused] = [readFileSync(file), { code: 'corrupt-tile', message: new RegExp(tile) }];
      for (const damage of [() => alter(file, 99), () => truncate(file, 99), () => truncate(file, 0), () => rm(file)]) {
        await damage();
        await assert.rejects(async () => log.read(tile), refused);
        await writeFile(file, bytes);
      }
      assert.deepEqual(Buffer.from((await log.read(tile)) ?? []), bytes);
    }
    const bundle = path.join(directory, 'tile/entries/005');
    await alter(bundle, 2);
    await assert.rejects(log.read('tile/entries/005.p/7'), failsWith('corrupt-tile'));
    assert.ok(await log.read('tile/entries/004'));
  });

  inDirectory('removes segments that a power failure brought back', async (directory) => {
    await using other = await temporaryDirectory();
    await logOf(other.path, 10);
    await logOf(directory, 3 * SEGMENT_LEAVES + 1);
    const returned = path.join(directory, 'journal', '0'.repeat(16));
    await writeFile(returned, readFileSync(newestSegment(other.path)));
    await using log = await openIn(directory);
    assert.equal(log.size, 3 * SEGMENT_LEAVES + 1);
    assert.ok(!existsSync(returned));
  });
});

describe('a disk', () => {
  inDirectory('that is full fails the batch, keeps what was acknowledged, and continues', async (directory, t) => {
    // A file-size limit is the one full disk that a test can have without being root.
    const script = path.join(import.meta.dirname, '../test/append.ts');
    const command = `trap '' XFSZ; ulimit -f 64; exec "$0" "$1" full "$2"`;
    // The coverage report of the process would be cut off by the limit, too.
    const env = { ...process.env, NODE_V8_COVERAGE: '' };
    const run = spawnSync('bash', ['-c', command, process.execPath, script, directory], { encoding: 'utf8', env });
    if (run.error) return t.skip('no bash here');
    const { acknowledged, ...result } = JSON.parse(run.stdout);
    assert.deepEqual(result, { code: 'disk-full', again: 'disk-full', sizeAfter: acknowledged }, run.stderr);
    assert.ok(acknowledged > 0);
    assert.equal((await checkLog(directory, VERIFIERS)).size, acknowledged);
    await using log = await openIn(directory);
    assert.equal((await log.append(leafOf(acknowledged))).index, acknowledged);
  });

  inDirectory('that is read-only is reported', async (directory, t) => {
    await mkdir(path.join(directory, 'log'), { mode: 0o555 });
    const uid = process.getuid?.();
    if (uid === undefined) return t.skip('no users here');
    // Root may write anywhere: run as an unprivileged user for a moment.
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
    const again = await openIn(directory);
    assert.equal(again.size, leaves);
    await again[Symbol.asyncDispose]();
    assert.equal((await checkLog(directory, VERIFIERS)).size, leaves);
    assert.deepEqual([existsSync(at('tile/1/000')), existsSync(at('tile/0/015'))], [false, true]);
  });
});
