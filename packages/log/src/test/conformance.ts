// What every log does, wherever it is stored.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import * as receipts from '@strata/receipts';
import { randomFrom } from '../../../../tests/support/random.ts';
import type { Log } from '../index.ts';
import { headOf, idOf, leafOf, tilesServedBy } from './fixture.ts';

const { decodeEntries, leafHash, tilePath, verifyConsistency } = receipts;

export interface LogBackend {
  readonly name: string;
  /** Why it is not available here, or false. */
  readonly skip: string | false;
  /** A path or database without a log. */
  fresh(): Promise<FreshLog>;
}

export interface FreshLog extends AsyncDisposable {
  open(): Promise<Log & AsyncDisposable>;
}

/** Appends leaves by their numbers, all at once. */
export const appendAll = (log: Log, numbers: Iterable<number>) =>
  Promise.all(Array.from(numbers, (number) => log.append(leafOf(number))));

export const upTo = (count: number): number[] => Array.from({ length: count }, (_, number) => number);

export function logConformance({ name, skip, fresh }: LogBackend): void {
  describe(`a log ${name}`, { skip }, () => {
    const test = (name: string, check: (log: Log & AsyncDisposable, backend: FreshLog) => Promise<void>) =>
      it(name, async () => {
        await using backend = await fresh();
        await using log = await backend.open();
        await check(log, backend);
      });

    test('acknowledges in order, with a checkpoint that covers the leaf', async (log) => {
      assert.match(log.checkpoint(), /^strata\.example\/ledger\n0\n/);
      const indexes = await Promise.all(
        upTo(300).map(async (number) => {
          const { index, treeSize } = await log.append(leafOf(number));
          assert.ok(log.size >= treeSize && treeSize > index);
          return index;
        }),
      );
      assert.deepEqual(indexes, upTo(300));
    });

    test('has each leaf at the index of its receipt, at whatever moment it comes', async (log) => {
      const random = randomFrom(1);
      const placed = await Promise.all(
        upTo(200).map(async (number) => {
          while (random() < 0.9) await turn();
          const { index } = await log.append(leafOf(number));
          assert.equal((await log.receipt(idOf(leafOf(number))))?.index, index);
          return index;
        }),
      );
      const found = placed.toSorted((a, b) => a - b);
      assert.deepEqual(found, upTo(200));
      const read = tilesServedBy(log);
      for (const [number, index] of placed.entries()) assert.deepEqual(await read(0, index), leafHash(leafOf(number)));
    });

    test('serves every tile of its tree, every narrower one, and nothing else', async (log) => {
      await appendAll(log, upTo(600));
      for (const address of receipts.tilesOfTree(600)) {
        for (const width of new Set([1, address.width >> 1 || 1, address.width])) {
          const path = tilePath({ ...address, width });
          const bytes = (await log.read(path)) ?? assert.fail(`${path} is missing`);
          assert.equal(address.level === 'entries' ? decodeEntries(bytes)?.length : bytes.length / 32, width);
          if (address.level === 0) assert.deepEqual(bytes.slice(0, 32), leafHash(leafOf(address.index * 256)));
        }
      }
      const tiles = ['0/002', '0/002.p/89', '1/000', '1/000.p/3', '2/000.p/1', 'entries/003.p/1'];
      for (const name of [...tiles.map((tile) => `tile/${tile}`), 'lock', '../lock', 'journal/0000000000000000'])
        assert.equal(await log.read(name), undefined, name);
      assert.equal(Buffer.from((await log.read('checkpoint')) ?? []).toString(), log.checkpoint());
    });

    test('serves the same tree at every size, and proves each from those before', async (log) => {
      const heads = [];
      for (const size of [0, 1, 2, 3, 255, 256, 257, 511, 512, 700, 65_536 + 300]) {
        await appendAll(log, upTo(size).slice(log.size));
        const { root } = await headOf(log.checkpoint());
        const read = tilesServedBy(log);
        for (const old of heads) {
          const proof = await receipts.consistencyProof(read, old.size, size);
          const claim = { oldSize: old.size, oldRoot: old.root, newSize: size, newRoot: root, proof };
          assert.ok(verifyConsistency(claim), `${old.size} to ${size}`);
        }
        heads.push({ size, root });
      }
    });

    test('finds receipts by id, also as a C2SP proof', async (log) => {
      await appendAll(log, upTo(300));
      for (const number of [0, 255, 256, 299]) {
        const receipt = (await log.receipt(idOf(leafOf(number)))) ?? assert.fail();
        assert.deepEqual([receipt.index, receipt.tree_size, receipt.receipt_id], [number, 300, `rwr_${number}`]);
        const proof = receipts.parseTlogProof(receipts.ledgerReceiptProof(receipt));
        assert.deepEqual([proof?.index, proof?.checkpoint], [number, log.checkpoint()]);
      }
      for (const id of ['', 'cr_', idOf(leafOf(300)), idOf(leafOf(1)).toUpperCase(), 'cr_../../etc/passwd'])
        assert.equal(await log.receipt(id), undefined);
    });

    test('accepts leaves that are not receipts, and refuses ones too large', async (log) => {
      const [binary, empty, largest] = [Uint8Array.of(0, 255, 254), new Uint8Array(), new Uint8Array(65_535).fill(92)];
      for (const leaf of [binary, empty]) await log.append(leaf);
      await Promise.all(upTo(150).map(() => log.append(largest)));
      assert.equal((await log.receipt(idOf(binary)))?.receipt_id, '');
      const entries = decodeEntries((await log.read('tile/entries/000.p/3')) ?? new Uint8Array());
      assert.deepEqual(entries, [binary, empty, largest]);
      await assert.rejects(log.append(new Uint8Array(65_536)), { name: 'LogError', code: 'leaf-too-large' });
      await log[Symbol.asyncDispose]();
      await assert.rejects(log.append(binary), { name: 'LogError', code: 'closed' });
    });

    test('continues after it is reopened', async (first, backend) => {
      await appendAll(first, upTo(5_000));
      const before = first.checkpoint();
      await first[Symbol.asyncDispose]();
      await using log = await backend.open();
      assert.deepEqual(await headOf(log.checkpoint()), await headOf(before));
      for (const number of [0, 4095, 4096, 4999])
        assert.equal((await log.receipt(idOf(leafOf(number))))?.index, number);
      assert.equal((await log.append(leafOf(5_000))).index, 5_000);
      assert.equal((await headOf(log.checkpoint())).size, 5_001);
    });
  });
}
