// A log read while it is written to, and made again from its leaves; keys that come back without their private halves.
import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { encodeHex } from '@strata/receipts';
import {
  CheckedLeaves,
  checkLog,
  decodeLeaves,
  encodeLeaves,
  type LeafBatches,
  openKeyring,
  publicKeysFrom,
  readCheckpoint,
  readKeysFile,
  readLeaves,
  readPublicKeys,
  receiptIdsOf,
  restoreKeys,
  writeKeysFile,
  writeLog,
} from './index.ts';
import { SEGMENT_LEAVES } from './journal.ts';
import { idOf, leafOf, temporaryDirectory, VERIFIERS } from './test/fixture.ts';
import { alter, failsWith, logOf, newestSegment, openIn } from './test/log-on-disk.ts';

/** The bytes of a stream, in pieces that end anywhere. */
async function* inPieces(batches: LeafBatches, bytes: number): AsyncGenerator<Uint8Array> {
  for await (const chunk of encodeLeaves(batches))
    for (let at = 0; at < chunk.length; at += bytes) yield chunk.slice(at, at + bytes);
}

async function* stream<T>(piece: T): AsyncGenerator<T> {
  yield piece;
}

async function drained(batches: LeafBatches): Promise<Uint8Array[]> {
  const all: Uint8Array[] = [];
  for await (const batch of batches) all.push(...batch);
  return all;
}

describe('a copy of a log', () => {
  for (const size of [0, 1, 256, SEGMENT_LEAVES, SEGMENT_LEAVES + 1, 2 * SEGMENT_LEAVES + 300]) {
    it(`of ${size} leaves is the same log and goes on`, async () => {
      await using from = await temporaryDirectory();
      await using to = await temporaryDirectory();
      await logOf(from.path, size);
      const note = await readCheckpoint(from.path);
      const copied = await writeLog(to.path, decodeLeaves(inPieces(readLeaves(from.path), 1_000)), note);
      const report = await checkLog(from.path, VERIFIERS);
      assert.deepEqual([copied.leaves, copied.root], [report.size, encodeHex(report.root)]);
      await using log = await openIn(to.path);
      assert.equal(log.size, size);
      if (size > 0) assert.equal((await log.receipt(idOf(leafOf(size - 1))))?.index, size - 1);
      await Promise.all(Array.from({ length: 300 }, (_, more) => log.append(leafOf(size + more))));
      await log[Symbol.asyncDispose]();
      assert.equal((await checkLog(to.path, VERIFIERS)).size, size + 300);
    });
  }

  it('holds every leaf that was acknowledged before it began, while more are written', {
    timeout: 120_000,
  }, async () => {
    await using from = await temporaryDirectory();
    await using log = await openIn(from.path);
    let acknowledged = 0;
    const writing = new AbortController();
    const work = (async () => {
      for (let number = 0; !writing.signal.aborted; number += 1_000) {
        await Promise.all(Array.from({ length: 1_000 }, (_, at) => log.append(leafOf(number + at))));
        acknowledged = number + 1_000;
      }
    })();
    try {
      // Over several segments, so that some go from the journal to tiles while they are read.
      for (let size = 0; size < 3 * SEGMENT_LEAVES; ) {
        const before = acknowledged;
        const note = await readCheckpoint(from.path);
        const checked = new CheckedLeaves(note);
        const leaves = await drained(checked.through(readLeaves(from.path)));
        assert.ok(leaves.length >= before, `${leaves.length} of ${before}`);
        const last = leaves.at(-1);
        if (last) assert.equal(idOf(last), idOf(leafOf(leaves.length - 1)));
        size = leaves.length;
        await new Promise(setImmediate);
      }
    } finally {
      writing.abort();
      await work;
    }
  });

  it('is refused where the leaves do not lead to the checkpoint', async () => {
    await using from = await temporaryDirectory();
    await logOf(from.path, 600);
    const note = await readCheckpoint(from.path);
    const leaves = await drained(readLeaves(from.path));
    const over = async (changed: readonly Uint8Array[]) => {
      await using to = await temporaryDirectory();
      return await writeLog(to.path, stream(changed), note);
    };
    assert.equal((await over(leaves)).leaves, 600);
    await assert.rejects(over(leaves.slice(0, -1)), failsWith('lost-leaves'));
    await assert.rejects(over([leafOf(9), ...leaves.slice(1)]), failsWith('corrupt-checkpoint'));
    await assert.rejects(drained(decodeLeaves(stream(new Uint8Array([0, 9, 1])))), failsWith('lost-leaves'));
    assert.deepEqual(receiptIdsOf([leafOf(5)]), [idOf(leafOf(5))]);
  });

  it('is refused where the log that is read is damaged or lacks what the checkpoint covers', async () => {
    await using from = await temporaryDirectory();
    for (const round of [0, 1]) {
      await using log = await openIn(from.path);
      await log.append(leafOf(round));
    }
    const reading = async () => {
      const checked = new CheckedLeaves(await readCheckpoint(from.path));
      await drained(checked.through(readLeaves(from.path)));
    };
    const segment = newestSegment(from.path);
    await alter(segment, 30);
    await assert.rejects(reading, failsWith('corrupt-journal'));
    await rm(path.join(from.path, 'journal'), { recursive: true });
    assert.deepEqual(readdirSync(from.path).includes('checkpoint'), true);
    await assert.rejects(reading, failsWith('lost-leaves'));
  });
});

describe('copied keys', () => {
  const now = new Date('2026-01-02T00:00:00Z');
  const ring = (directory: string, name: string) =>
    openKeyring({ directory: path.join(directory, 'keys', name), now: () => now });
  const filled = async (directory: string) => {
    const receipts = await ring(directory, 'receipts');
    await receipts.rotate();
    return { receipts, ledger: await ring(directory, 'ledger') };
  };

  it('are public unless asked for, and then in a file of its owner alone', async () => {
    await using from = await temporaryDirectory();
    await using to = await temporaryDirectory();
    const before = await filled(from.path);
    const published = await readPublicKeys(from.path);
    assert.doesNotMatch(JSON.stringify(published), /"d"/);
    const file = path.join(from.path, 'keys.json');
    await writeKeysFile(from.path, file);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    await assert.rejects(writeKeysFile(from.path, file), { code: 'EEXIST' });
    assert.deepEqual(await restoreKeys(to.path, { published, given: await readKeysFile(file), now }), []);
    assert.deepEqual((await ring(to.path, 'receipts')).keys, before.receipts.keys);
    assert.deepEqual((await ring(to.path, 'ledger')).keys, before.ledger.keys);
  });

  it('come back as retired beside new ones where the private halves are not given', async () => {
    await using from = await temporaryDirectory();
    await using to = await temporaryDirectory();
    const before = await filled(from.path);
    const published = publicKeysFrom(JSON.stringify(await readPublicKeys(from.path)), 'set');
    assert.deepEqual(await restoreKeys(to.path, { published, now }), ['receipts', 'ledger']);
    const after = await ring(to.path, 'receipts');
    const [first, ...retired] = after.keys;
    const kids = before.receipts.keys.map(({ kid }) => `${kid} retired`);
    assert.deepEqual([first?.status, retired.map(({ kid, status }) => `${kid} ${status}`)], ['current', kids]);
    // Once more: the key that is there stays the current one.
    assert.deepEqual(await restoreKeys(to.path, { published, now }), []);
    assert.equal((await ring(to.path, 'receipts')).signer.keyId, after.signer.keyId);
    assert.equal((await ring(to.path, 'receipts')).keys.length, 3);
  });
});
