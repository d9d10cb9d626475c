import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, rm, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { decodeEntries, leafHash, ledgerReceiptProof, parseTlogProof, tilePath, tilesOfTree } from '@strata/receipts';
import { checkLog, LogError, type LogErrorCode, openLog } from './index.ts';
import { SEGMENT_LEAVES } from './journal.ts';
import { idOf, leafOf, ORIGIN, temporaryDirectory, testSigner, VERIFIERS } from './test/fixture.ts';

const signer = testSigner();
const openIn = (directory: string, origin = ORIGIN) => openLog({ directory, origin, signer });
const failsWith = (code: LogErrorCode) => (error: unknown) => error instanceof LogError && error.code === code;

/** A closed log of so many leaves. */
async function logOf(directory: string, leaves: number): Promise<void> {
  await using log = await openIn(directory);
  await Promise.all(Array.from({ length: leaves }, (_, number) => log.append(leafOf(number))));
}

/** Flips one bit of a file. */
async function alter(file: string, at: number): Promise<void> {
  const bytes = readFileSync(file);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  await writeFile(file, bytes);
}

const newestSegment = (directory: string): string => {
  const name = readdirSync(path.join(directory, 'journal')).sort().at(-1) ?? assert.fail('no journal');
  return path.join(directory, 'journal', name);
};

describe('an open log', () => {
  it('acknowledges in order, with a checkpoint that covers the leaf', async () => {
    await using directory = await temporaryDirectory();
    await using log = await openIn(directory.path);
    assert.match(log.checkpoint(), /^strata\.example\/ledger\n0\n/);
    const placed = await Promise.all(
      Array.from({ length: 300 }, async (_, number) => {
        const { index, treeSize } = await log.append(leafOf(number));
        assert.ok(log.size >= treeSize && treeSize > index);
        return index;
      }),
    );
    assert.deepEqual(
      placed,
      Array.from({ length: 300 }, (_, number) => number),
    );
    assert.ok(log.stats().commits < 30, 'appends did not share commits');
  });

  it('serves every tile of its tree, every narrower one, and nothing else', async () => {
    await using directory = await temporaryDirectory();
    await using log = await openIn(directory.path);
    await Promise.all(Array.from({ length: 600 }, (_, number) => log.append(leafOf(number))));
    for (const address of tilesOfTree(600)) {
      for (const width of new Set([1, address.width >> 1 || 1, address.width])) {
        const bytes =
          (await log.read(tilePath({ ...address, width }))) ?? assert.fail(`${tilePath(address)} is missing`);
        if (address.level === 'entries') assert.equal(decodeEntries(bytes)?.length, width);
        else assert.equal(bytes.length, 32 * width);
        if (address.level === 0) assert.deepEqual(bytes.slice(0, 32), leafHash(leafOf(address.index * 256)));
      }
    }
    for (const name of [
      'tile/0/002',
      'tile/0/002.p/89',
      'tile/1/000',
      'tile/1/000.p/3',
      'tile/2/000.p/1',
      'tile/entries/003.p/1',
      'lock',
      '../lock',
      'journal/0000000000000000',
    ]) {
      assert.equal(await log.read(name), undefined, name);
    }
    assert.equal(Buffer.from((await log.read('checkpoint')) ?? []).toString(), log.checkpoint());
  });

  it('finds receipts by id, also as a C2SP proof', async () => {
    await using directory = await temporaryDirectory();
    await using log = await openIn(directory.path);
    await Promise.all(Array.from({ length: 300 }, (_, number) => log.append(leafOf(number))));
    for (const number of [0, 255, 256, 299]) {
      const receipt = (await log.receipt(idOf(leafOf(number)))) ?? assert.fail();
      assert.deepEqual([receipt.index, receipt.tree_size, receipt.receipt_id], [number, 300, `rwr_${number}`]);
      const proof = parseTlogProof(ledgerReceiptProof(receipt));
      assert.equal(proof?.index, number);
      assert.equal(proof?.checkpoint, log.checkpoint());
    }
    for (const id of ['', 'cr_', idOf(leafOf(300)), idOf(leafOf(1)).toUpperCase(), 'cr_../../etc/passwd']) {
      assert.equal(await log.receipt(id), undefined);
    }
  });

  it('keeps leaves that are not receipts, and refuses ones too large', async () => {
    await using directory = await temporaryDirectory();
    await using log = await openIn(directory.path);
    const binary = Uint8Array.of(0, 255, 254);
    await log.append(binary);
    await log.append(new Uint8Array(0));
    await log.append(new Uint8Array(65_535));
    assert.equal((await log.receipt(idOf(binary)))?.receipt_id, '');
    await assert.rejects(log.append(new Uint8Array(65_536)), failsWith('leaf-too-large'));
    await log[Symbol.asyncDispose]();
    await assert.rejects(log.append(binary), failsWith('closed'));
    assert.equal((await checkLog(directory.path, VERIFIERS)).size, 3);
  });

  it('moves whole segments into tiles and drops them from the journal', async () => {
    await using directory = await temporaryDirectory();
    const leaves = 2 * SEGMENT_LEAVES + 700;
    await logOf(directory.path, leaves);
    const report = await checkLog(directory.path, VERIFIERS);
    assert.deepEqual([report.size, report.checkpointSize], [leaves, leaves]);
    assert.deepEqual(readdirSync(path.join(directory.path, 'journal')), [String(2 * SEGMENT_LEAVES).padStart(16, '0')]);
    await using log = await openIn(directory.path);
    for (const number of [0, 4095, 4096, leaves - 1]) {
      assert.equal((await log.receipt(idOf(leafOf(number))))?.index, number);
    }
    assert.equal((await log.append(leafOf(leaves))).index, leaves);
  });

  it('is locked against a second writer, and open to the next', async () => {
    await using directory = await temporaryDirectory();
    const first = await openIn(directory.path);
    await assert.rejects(openIn(directory.path), failsWith('locked'));
    await first[Symbol.asyncDispose]();
    await using next = await openIn(directory.path);
    assert.equal(next.size, 0);
  });

  it('signs with a new key after a rotation, and opens with it', async () => {
    await using directory = await temporaryDirectory();
    await logOf(directory.path, 3);
    const log = await openLog({ directory: directory.path, origin: ORIGIN, signer: testSigner(3) });
    assert.equal(log.size, 3);
    await log[Symbol.asyncDispose]();
    await assert.rejects(checkLog(directory.path, VERIFIERS), failsWith('corrupt-checkpoint'));
    await checkLog(directory.path);
  });
});

describe('a restart', () => {
  it('drops a batch cut off in writing, at any byte of it', async () => {
    await using directory = await temporaryDirectory();
    await logOf(directory.path, 10);
    const segment = newestSegment(directory.path);
    const whole = statSync(segment).size;
    {
      await using log = await openIn(directory.path);
      await log.append(leafOf(10));
    }
    const longer = readFileSync(segment);
    for (let cut = whole; cut < longer.length; cut += 7) {
      await writeFile(segment, longer.subarray(0, cut));
      await rm(path.join(directory.path, 'checkpoint'));
      await using log = await openIn(directory.path);
      assert.equal(log.size, 10);
      assert.equal(statSync(segment).size, whole);
      assert.equal((await log.append(leafOf(10))).index, 10);
    }
    assert.equal((await checkLog(directory.path, VERIFIERS)).size, 11);
  });

  it('refuses a journal damaged before its end, and leaves it as it is', async () => {
    await using directory = await temporaryDirectory();
    for (let number = 0; number < 3; number++) {
      await using log = await openIn(directory.path);
      await log.append(leafOf(number));
    }
    const segment = newestSegment(directory.path);
    const bytes = readFileSync(segment);
    for (let at = 0; at < Math.floor((bytes.length * 2) / 3); at += 5) {
      await alter(segment, at);
      await assert.rejects(openIn(directory.path), failsWith('corrupt-journal'));
      await alter(segment, at);
    }
    assert.deepEqual(readFileSync(segment), bytes);
    await using log = await openIn(directory.path);
    assert.equal(log.size, 3);
  });

  it('tells when acknowledged leaves are gone', async () => {
    await using directory = await temporaryDirectory();
    await logOf(directory.path, 5);
    const segment = newestSegment(directory.path);
    const bytes = readFileSync(segment);
    await truncate(segment, 0);
    await assert.rejects(openIn(directory.path), failsWith('lost-leaves'));
    await assert.rejects(checkLog(directory.path), failsWith('lost-leaves'));
    await alter(segment, 0).catch(() => undefined);
    await writeFile(segment, bytes);
    await rm(path.join(directory.path, 'journal'), { recursive: true });
    await assert.rejects(openIn(directory.path), failsWith('lost-leaves'));
  });

  it('tells a journal that is gone from an empty log', async () => {
    await using directory = await temporaryDirectory();
    await logOf(directory.path, SEGMENT_LEAVES + 1);
    await rm(path.join(directory.path, 'journal'), { recursive: true });
    await rm(path.join(directory.path, 'checkpoint'));
    await assert.rejects(openIn(directory.path), failsWith('corrupt-journal'));
  });

  it('refuses an altered checkpoint and another origin, and lives without a checkpoint', async () => {
    await using directory = await temporaryDirectory();
    await logOf(directory.path, 300);
    const file = path.join(directory.path, 'checkpoint');
    const note = readFileSync(file);
    for (let at = note.indexOf('300'); at < note.indexOf('—'); at += 3) {
      await alter(file, at);
      await assert.rejects(openIn(directory.path), (error) => error instanceof LogError, `byte ${at}`);
      await alter(file, at);
    }
    await assert.rejects(openIn(directory.path, 'other.example/ledger'), failsWith('wrong-origin'));
    await writeFile(file, '');
    await using log = await openIn(directory.path);
    assert.equal(log.size, 300);
  });

  it('refuses tiles that are missing, cut off or altered', async () => {
    await using directory = await temporaryDirectory();
    await logOf(directory.path, SEGMENT_LEAVES + 1);
    const tile = path.join(directory.path, 'tile/0/003');
    const bytes = readFileSync(tile);
    await alter(tile, 77);
    await assert.rejects(openIn(directory.path), failsWith('corrupt-tile'));
    await assert.rejects(checkLog(directory.path), failsWith('corrupt-tile'));
    await truncate(tile, 100);
    await assert.rejects(openIn(directory.path), failsWith('corrupt-tile'));
    await rm(tile);
    await assert.rejects(openIn(directory.path), failsWith('corrupt-tile'));
    await writeFile(tile, bytes);
    await alter(path.join(directory.path, 'tile/entries/003'), 77);
    await assert.rejects(checkLog(directory.path), failsWith('corrupt-tile'));
    await using log = await openIn(directory.path);
    await assert.rejects(log.receipt(idOf(leafOf(768))), failsWith('corrupt-tile'));
    assert.equal((await log.receipt(idOf(leafOf(0))))?.index, 0);
  });

  it('removes segments that a power cut brought back', async () => {
    await using directory = await temporaryDirectory();
    await logOf(directory.path, 10);
    const old = readFileSync(newestSegment(directory.path));
    await using other = await temporaryDirectory();
    await logOf(other.path, 3 * SEGMENT_LEAVES + 1);
    const returned = path.join(other.path, 'journal', '0'.repeat(16));
    await writeFile(returned, old);
    await using log = await openIn(other.path);
    assert.equal(log.size, 3 * SEGMENT_LEAVES + 1);
    assert.ok(!existsSync(returned));
  });
});

describe('a disk that refuses', () => {
  it('by being full fails the batch, keeps what was acknowledged, and goes on when there is room', async (t) => {
    await using directory = await temporaryDirectory();
    // A file-size limit is the one full disk that a test can have without being root.
    const script = path.join(import.meta.dirname, 'test/append-until-full.ts');
    const command = `trap '' XFSZ; ulimit -f 64; exec "$0" "$1" "$2"`;
    const run = spawnSync('bash', ['-c', command, process.execPath, script, directory.path], { encoding: 'utf8' });
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
      assert.equal(log.stats().backgroundError?.code, 'io');
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
