// The log of a directory: what every log does, its lock; what opening makes of lost, altered and foreign rows and checkpoints; a disk
// that is full, read-only, or has another file at a path of the log; and the folder that an earlier version left.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, readFile, rename, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe } from 'node:test';
import { tilePath, tilesOfTree } from '@strata/receipts';
import { temporaryDirectory, until } from '../../../tests/support/index.ts';
import { type DatabaseLog, type LedgerTable, LogError, openLedgerFile, openSignedLedger } from './index.ts';
import { moveLog } from './ledger-directory.ts';
import { appendAll, type LogBackend, logConformance, upTo } from './test/conformance.ts';
import { idOf, keysOf, leafOf, ORIGIN } from './test/fixture.ts';
import * as disk from './test/log-on-disk.ts';
import { publicLogConformance } from './test/public-log.ts';

const { alter, altered, checked, failsWith, inDirectory, logOf } = disk;
const { memoryCopy, openIn, SEGMENT_LEAVES, segmentIn, sizeOf } = disk;
const onDisk: LogBackend = {
  name: 'in a directory',
  skip: false,
  async fresh() {
    const directory = await temporaryDirectory();
    return { open: () => openIn(directory.path), [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose]() };
  },
};
logConformance(onDisk);
publicLogConformance(onDisk);

describe('an open log in a directory', () => {
  inDirectory('batches appends, and is locked against a second writer', async (directory) => {
    await using log = await openIn(directory);
    await appendAll(log, upTo(300));
    assert.ok(log.stats().commits < 30);
    await assert.rejects(openIn(directory), failsWith('locked'));
    assert.equal(await checked(directory), 300, 'it is read beside its writer');
  });

  inDirectory('says what it could not lock', async (directory) => {
    await mkdir(path.join(directory, 'lock'));
    await assert.rejects(openIn(directory), /acquire the lock .+lock/);
  });

  inDirectory('signs with a new key after a rotation, and opens with it', async (directory) => {
    await logOf(directory, 3);
    await using log = await openIn(directory, ORIGIN, undefined, keysOf(3, 2));
    assert.equal(log.size, 3);
    await log[Symbol.asyncDispose]();
    await assert.rejects(checked(directory), failsWith('wrong-key'));
    await assert.rejects(openIn(directory), failsWith('wrong-key'));
  });

  inDirectory('opens with its key alone, and makes no other', async (directory) => {
    const open = () => openSignedLedger({ directory, origin: ORIGIN, keySetPath: '/keys.json', now: () => new Date() });
    await (await open())[Symbol.asyncDispose]();
    await rm(path.join(directory, 'keys'), { recursive: true });
    await assert.rejects(open(), failsWith('wrong-key'));
    assert.ok(!existsSync(path.join(directory, 'keys')));
  });
});

describe('a restart', () => {
  inDirectory('refuses less than was published, by the file or by the copy', async (directory) => {
    const copy = memoryCopy();
    await logOf(directory, 5);
    cpSync(path.join(directory, 'ledger.db'), path.join(directory, 'old.db'));
    {
      await using log = await openIn(directory, ORIGIN, copy);
      for (const number of [5, 6, 7, 8]) await log.append(leafOf(number));
      await until(() => sizeOf(copy.note) === 9);
    }
    await rename(path.join(directory, 'ledger.db'), path.join(directory, 'newest.db'));
    const lost = (leaves: number) => ({
      code: 'lost-leaves',
      message: `the database has ${leaves} leaves of the log, but 9 were published: restore a newer backup`,
    });
    await assert.rejects(openIn(directory), lost(0));
    await rename(path.join(directory, 'old.db'), path.join(directory, 'ledger.db'));
    await assert.rejects(openIn(directory), lost(5));
    await rm(path.join(directory, 'checkpoint'));
    await assert.rejects(openIn(directory, ORIGIN, copy), lost(5));
    await rename(path.join(directory, 'newest.db'), path.join(directory, 'ledger.db'));
    await using log = await openIn(directory, ORIGIN, copy);
    assert.equal(log.size, 9);
  });

  inDirectory('opens with a copy that is behind, missing or of an earlier key; not with another', async (directory) => {
    const copy = memoryCopy();
    await logOf(directory, 5);
    const note = await readFile(path.join(directory, 'checkpoint'), 'utf8');
    await logOf(directory, 4);
    for (const left of ['', note]) {
      copy.note = left;
      await using log = await openIn(directory, ORIGIN, copy);
      assert.equal(log.size, 9);
      await log[Symbol.asyncDispose]();
      assert.deepEqual([sizeOf(copy.note), copy.note], [9, log.checkpoint()], 'brought up to date');
    }
    await using rotated = await openIn(directory, ORIGIN, copy, keysOf(3, 2));
    assert.equal(rotated.size, 9);
    await rotated[Symbol.asyncDispose]();
    copy.note = note.replace('\n5\n', '\n4\n');
    await assert.rejects(openIn(directory, ORIGIN, copy, keysOf(3, 2)), failsWith('forked'));
  });

  inDirectory('continues if the copy cannot be written, and reports it', async (directory) => {
    const copy = { read: async () => undefined, write: () => Promise.reject(new Error('no space')) };
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
    assert.deepEqual(readdirSync(directory).sort(), ['checkpoint', 'ledger.db', 'lock']);
  });

  inDirectory('refuses an altered checkpoint and another origin, and needs no checkpoint', async (directory) => {
    await logOf(directory, 300);
    const file = path.join(directory, 'checkpoint');
    const note = readFileSync(file);
    for (let at = note.indexOf('300'); at < note.indexOf('\n\n'); at += 3) {
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

  inDirectory('refuses rows that are missing or altered, and serves none of them', async (directory) => {
    await logOf(directory, 600);
    cpSync(path.join(directory, 'ledger.db'), path.join(directory, 'kept'));
    for (const [damage, code] of [
      ['update ledger_leaves set hash = zeroblob(32) where leaf_index = 599', 'corrupt-tile'],
      ['delete from ledger_subtrees where subtree_index = 1', 'corrupt-tile'],
      ['update ledger_head set root = zeroblob(32)', 'corrupt-checkpoint'],
    ] as const) {
      altered(directory, damage);
      await assert.rejects(openIn(directory), failsWith(code), damage);
      cpSync(path.join(directory, 'kept'), path.join(directory, 'ledger.db'));
    }
    altered(directory, 'update ledger_leaves set leaf = zeroblob(9) where leaf_index = 300');
    await using log = await openIn(directory);
    await assert.rejects(log.receipt(idOf(leafOf(300))), failsWith('corrupt-tile'));
    await assert.rejects(log.read('tile/entries/001'), failsWith('corrupt-tile'));
    assert.ok(await log.read('tile/entries/001.p/44'));
    await assert.rejects(checked(directory), failsWith('corrupt-tile'));
    await log[Symbol.asyncDispose]();
    await writeFile(path.join(directory, 'ledger.db'), 'nothing that SQLite knows'.repeat(99));
    await assert.rejects(openIn(directory), failsWith('io'));
  });
});

describe('a disk', () => {
  inDirectory('that is full fails the batch, keeps what was acknowledged, and continues', async (directory, t) => {
    // A file-size limit is the one full disk that a test can have without being root.
    const script = path.join(import.meta.dirname, 'test/append.ts');
    const command = `trap '' XFSZ; ulimit -f 512; exec "$0" "$1" full "$2"`;
    // The coverage report of the process would be cut off by the limit, too.
    const env = { ...process.env, NODE_V8_COVERAGE: '' };
    const run = spawnSync('bash', ['-c', command, process.execPath, script, directory], { encoding: 'utf8', env });
    if (run.error) return t.skip('no bash here');
    const { acknowledged, ...result } = JSON.parse(run.stdout);
    assert.deepEqual(result, { code: 'io-error', again: 'io-error', sizeAfter: acknowledged }, run.stderr);
    assert.ok(acknowledged > 0);
    assert.equal(await checked(directory), acknowledged);
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
      await assert.rejects(openLedgerFile(path.join(directory, 'log', 'ledger.db')), failsWith('read-only'));
    } finally {
      if (uid === 0) process.seteuid?.(0);
    }
  });

  inDirectory('with a file for the directory is reported', async (directory) => {
    const file = path.join(directory, 'file');
    await writeFile(file, '');
    await assert.rejects(openIn(file), failsWith('io'));
  });
});

describe('the folder of an earlier version', () => {
  /** A log and the folder that an earlier version would have of it. */
  async function folderOf(directory: string, leaves: number): Promise<DatabaseLog> {
    const log = await openIn(path.join(directory, 'same'));
    await appendAll(log, upTo(leaves));
    await disk.writeFolder(path.join(directory, 'old'), log);
    return log;
  }
  const importInto = (directory: string, to: LedgerTable | undefined) =>
    moveLog({ directory, origin: ORIGIN, keys: keysOf(2), to });

  for (const leaves of [0, 1, 256, SEGMENT_LEAVES, SEGMENT_LEAVES + 1, 2 * SEGMENT_LEAVES + 300])
    inDirectory(`with ${leaves} leaves goes on with the same checkpoint, tiles and proofs`, async (directory) => {
      await using same = await folderOf(directory, leaves);
      const old = path.join(directory, 'old');
      await using log = await openIn(old);
      assert.equal(log.checkpoint(), same.checkpoint());
      for (const address of tilesOfTree(leaves)) {
        const name = tilePath(address);
        assert.deepEqual(await log.read(name), await same.read(name), name);
      }
      for (const number of [0, 255, 256, leaves - 1].filter((number) => number >= 0 && number < leaves))
        assert.deepEqual(await log.receipt(idOf(leafOf(number))), await same.receipt(idOf(leafOf(number))));
      assert.equal((await log.append(leafOf(leaves))).index, leaves);
      await log[Symbol.asyncDispose]();
      assert.ok(existsSync(path.join(old, 'moved')) && existsSync(path.join(old, 'journal')), 'it is kept, and closed');
      await using again = await openIn(old);
      assert.equal(again.size, leaves + 1);
    });

  inDirectory('is imported again after a kill, completely or not at all', async (directory) => {
    await using _same = await folderOf(directory, 700);
    const old = path.join(directory, 'old');
    assert.equal((await importInto(old, undefined)).added, 700);
    // Killed between the commit and the mark.
    await rm(path.join(old, 'moved'));
    assert.equal((await importInto(old, undefined)).added, 0);
    await rm(path.join(old, 'ledger.db'));
    await assert.rejects(openIn(old), { code: 'lost-leaves', message: /ledger\.db is missing/ });
    await writeFile(path.join(old, 'moved'), 'This log has moved to a database.');
    await assert.rejects(openIn(old), failsWith('moved'), 'by an earlier version');
  });

  inDirectory('is not imported with a gap, with other leaves than published, or as another log', async (directory) => {
    await using _same = await folderOf(directory, SEGMENT_LEAVES + 300);
    const [old, kept] = [path.join(directory, 'old'), path.join(directory, 'kept')];
    cpSync(old, kept, { recursive: true });
    const newest = segmentIn(old, SEGMENT_LEAVES);
    const tile = (name: string) => path.join(old, 'tile/entries', name);
    for (const [damage, code] of [
      [() => alter(newest, 30), 'corrupt-journal'],
      [() => truncate(newest, 9_000), 'lost-leaves'],
      [() => rm(path.join(old, 'journal'), { recursive: true }), 'corrupt-journal'],
      [() => alter(tile('003'), 77), 'corrupt-checkpoint'],
      [() => truncate(tile('003'), 77), 'corrupt-tile'],
      [() => rm(tile('003')), 'corrupt-tile'],
      [() => alter(path.join(old, 'checkpoint'), ORIGIN.length + 2), 'corrupt-checkpoint'],
    ] as const) {
      await damage();
      await assert.rejects(openIn(old), failsWith(code), String(damage));
      assert.ok(!existsSync(path.join(old, 'moved')));
      await rm(old, { recursive: true });
      cpSync(kept, old, { recursive: true });
    }
    await assert.rejects(openIn(old, 'other.example/ledger'), failsWith('wrong-origin'));
    await assert.rejects(openIn(old, ORIGIN, undefined, keysOf(9)), failsWith('wrong-key'));
    // A record that was cut off was never acknowledged.
    const journal = readFileSync(newest);
    const torn = disk.journalRecord(SEGMENT_LEAVES + 300, [leafOf(1)]).subarray(0, -3);
    writeFileSync(newest, Buffer.concat([journal, torn]));
    await using log = await openIn(old);
    assert.equal(log.size, SEGMENT_LEAVES + 300);
  });
});
