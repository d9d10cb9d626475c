// A log read while it is written to, and made again from its leaves; keys that are restored without their private halves.
import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { encodeHex } from '@strata/receipts';
import * as logs from './index.ts';
import { SEGMENT_LEAVES } from './journal.ts';
import { appendAll, upTo } from './test/conformance.ts';
import { idOf, leafOf, temporaryDirectory, VERIFIERS } from './test/fixture.ts';
import { alter, failsWith, inDirectory, logOf, newestSegment, openIn } from './test/log-on-disk.ts';

const { checkLog, decodeLeaves, openKeyring, readCheckpoint, readLeaves, restoreKeys, writeLog } = logs;

/** The bytes of a stream, in pieces that end anywhere. */
async function* inPieces(batches: logs.LeafBatches, bytes: number): AsyncGenerator<Uint8Array> {
  for await (const chunk of logs.encodeLeaves(batches))
    for (let at = 0; at < chunk.length; at += bytes) yield chunk.slice(at, at + bytes);
}

async function* stream<T>(piece: T): AsyncGenerator<T> {
  yield piece;
}

const collect = async (batches: logs.LeafBatches) => (await Array.fromAsync(batches)).flat();
/** Leaves read from a directory, checked against its checkpoint. */
const checkedLeaves = async (directory: string) =>
  collect(new logs.CheckedLeaves(await readCheckpoint(directory)).through(readLeaves(directory)));

describe('a copy of a log', () => {
  for (const size of [0, 1, 256, SEGMENT_LEAVES, SEGMENT_LEAVES + 1, 2 * SEGMENT_LEAVES + 300])
    inDirectory(`of ${size} leaves is the same log and goes on`, async (from) => {
      await using to = await temporaryDirectory();
      await logOf(from, size);
      const note = await readCheckpoint(from);
      const copied = await writeLog(to.path, decodeLeaves(inPieces(readLeaves(from), 1_000)), note);
      const report = await checkLog(from, VERIFIERS);
      assert.deepEqual([copied.leaves, copied.root], [report.size, encodeHex(report.root)]);
      {
        await using log = await openIn(to.path);
        assert.equal(log.size, size);
        if (size > 0) assert.equal((await log.receipt(idOf(leafOf(size - 1))))?.index, size - 1);
        await appendAll(log, upTo(size + 300).slice(size));
      }
      assert.equal((await checkLog(to.path, VERIFIERS)).size, size + 300);
    });

  it('has every leaf that was acknowledged before it began, while more are written', { timeout: 120_000 }, async () => {
    await using from = await temporaryDirectory();
    await using log = await openIn(from.path);
    let acknowledged = 0;
    const writing = new AbortController();
    const work = (async () => {
      for (; !writing.signal.aborted; acknowledged += 1_000)
        await appendAll(log, upTo(acknowledged + 1_000).slice(acknowledged));
    })();
    try {
      // Over several segments, so that some are moved from the journal to tiles while they are read.
      for (let size = 0; size < 3 * SEGMENT_LEAVES; ) {
        const before = acknowledged;
        const leaves = await checkedLeaves(from.path);
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

  inDirectory('is refused where the leaves do not lead to the checkpoint', async (from) => {
    await logOf(from, 600);
    const note = await readCheckpoint(from);
    const leaves = await collect(readLeaves(from));
    const writeOver = async (changed: readonly Uint8Array[]) => {
      await using to = await temporaryDirectory();
      return await writeLog(to.path, stream(changed), note);
    };
    assert.equal((await writeOver(leaves)).leaves, 600);
    await assert.rejects(writeOver(leaves.slice(0, -1)), failsWith('lost-leaves'));
    await assert.rejects(writeOver([leafOf(9), ...leaves.slice(1)]), failsWith('corrupt-checkpoint'));
    await assert.rejects(collect(decodeLeaves(stream(new Uint8Array([0, 9, 1])))), failsWith('lost-leaves'));
    assert.deepEqual(logs.receiptIdsOf([leafOf(5)]), [idOf(leafOf(5))]);
  });

  inDirectory('is refused where the log is damaged or lacks what the checkpoint covers', async (from) => {
    for (const round of [0, 1]) {
      await using log = await openIn(from);
      await log.append(leafOf(round));
    }
    await alter(newestSegment(from), 30);
    await assert.rejects(checkedLeaves(from), failsWith('corrupt-journal'));
    await rm(path.join(from, 'journal'), { recursive: true });
    assert.ok(readdirSync(from).includes('checkpoint'));
    await assert.rejects(checkedLeaves(from), failsWith('lost-leaves'));
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

  inDirectory('are public unless all are requested, and then in a file of its owner alone', async (from) => {
    await using to = await temporaryDirectory();
    const before = await filled(from);
    const published = await logs.readPublicKeys(from);
    assert.doesNotMatch(JSON.stringify(published), /"d"/);
    const file = path.join(from, 'keys.json');
    await logs.writeKeysFile(from, file);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    await assert.rejects(logs.writeKeysFile(from, file), { code: 'EEXIST' });
    assert.deepEqual(await restoreKeys(to.path, { published, given: await logs.readKeysFile(file), now }), []);
    assert.deepEqual((await ring(to.path, 'receipts')).keys, before.receipts.keys);
    assert.deepEqual((await ring(to.path, 'ledger')).keys, before.ledger.keys);
  });

  inDirectory('are restored as retired beside new ones without the private halves', async (from) => {
    await using to = await temporaryDirectory();
    const before = await filled(from);
    const published = logs.publicKeysFrom(JSON.stringify(await logs.readPublicKeys(from)), 'set');
    assert.deepEqual(await restoreKeys(to.path, { published, now }), ['receipts', 'ledger']);
    const after = await ring(to.path, 'receipts');
    const statuses = after.keys.map(({ kid, status }) => `${kid} ${status}`);
    const retired = before.receipts.keys.map(({ kid }) => `${kid} retired`);
    assert.deepEqual(statuses, [`${after.signer.keyId} current`, ...retired]);
    // Once more: the current key stays.
    assert.deepEqual(await restoreKeys(to.path, { published, now }), []);
    const again = await ring(to.path, 'receipts');
    assert.deepEqual([again.signer.keyId, again.keys.length], [after.signer.keyId, 3]);
  });
});
