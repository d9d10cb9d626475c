// A log while it is open: appends, tiles, receipts, segments, its lock and its keys.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { decodeEntries, leafHash, ledgerReceiptProof, parseTlogProof, tilePath, tilesOfTree } from '@strata/receipts';
import { checkLog, openLog } from './index.ts';
import { SEGMENT_LEAVES } from './journal.ts';
import { idOf, leafOf, ORIGIN, temporaryDirectory, testSigner, VERIFIERS } from './test/fixture.ts';
import { failsWith, logOf, openIn } from './test/log-on-disk.ts';

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
