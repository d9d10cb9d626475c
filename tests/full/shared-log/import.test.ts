// A ledger of one process moved to PostgreSQL: the same history goes on there, and nowhere else.
import assert from 'node:assert/strict';
import { cpSync, existsSync, renameSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import {
  type CopiedLog,
  checkpointOf,
  importLedger,
  type LedgerTable,
  openSignedLedger,
  readPublicKeys,
  returnLedger,
  rotateSigningKeys,
} from '@strata/log';
import { consistencyProof, verifyConsistency } from '@strata/receipts';
import { appendAll, upTo } from '../../../packages/log/src/test/conformance.ts';
import { idOf, leafOf, ORIGIN, tilesServedBy } from '../../../packages/log/src/test/fixture.ts';
import { failsWith } from '../../../packages/log/src/test/log-on-disk.ts';
import { exec, postgres } from '../../../services/stack/src/store/test/backends.ts';
import { altered, openLedgerOf, openShared, withMethods } from '../../support/shared-log/database.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const LEAVES = 5_000;
type Options = Partial<Parameters<typeof importLedger>[0]>;

async function bringOver(directory: string, url: string, more: Options = {}): Promise<CopiedLog> {
  await using shared = await openShared(url);
  return await importLedger({ directory, origin: ORIGIN, now: () => new Date(), to: shared.log, ...more });
}

/** Appends leaves at a node of a directory, on a database or on none; its newest checkpoint. */
async function append(directory: string, url: string | undefined, numbers: readonly number[]): Promise<string> {
  await using ledger = await openLedgerOf(directory, url);
  await appendAll(ledger.log, numbers);
  return ledger.log.checkpoint();
}

/** A folder with leaves, and its newest checkpoint. */
async function filled(leaves = LEAVES) {
  const directory = await temporaryDirectory();
  return Object.assign(directory, { checkpoint: await append(directory.path, undefined, upTo(leaves)) });
}

/** Undoes the closing of a folder. */
const reopen = (directory: string) =>
  renameSync(path.join(directory, 'ledger/ledger.db.moved'), path.join(directory, 'ledger/ledger.db'));

describe('a ledger brought to a database', { skip: postgres.skip }, () => {
  it('goes on there, with every leaf, and not in its folder', async () => {
    const url = await postgres.fresh();
    await using folder = await filled();
    await assert.rejects(openLedgerOf(folder.path, url), failsWith('not-moved'));
    const progress = { written: 0, checked: 0 };
    const { size, added } = await bringOver(folder.path, url, {
      onProgress: ({ leaves, isChecking }) => {
        progress[isChecking ? 'checked' : 'written'] = leaves;
      },
    });
    assert.deepEqual([size, added, progress], [LEAVES, LEAVES, { written: LEAVES, checked: LEAVES }]);
    await assert.rejects(openLedgerOf(folder.path), failsWith('moved'));
    await assert.rejects(bringOver(folder.path, url), failsWith('moved'));

    await using ledger = await openLedgerOf(folder.path, url);
    assert.equal(ledger.log.checkpoint(), folder.checkpoint, 'the same signed checkpoint');
    for (const number of [0, 255, 256, 4_095, 4_096, LEAVES - 1])
      assert.equal((await ledger.log.receipt(idOf(leafOf(number))))?.index, number);
    assert.equal((await ledger.log.append(leafOf(LEAVES))).index, LEAVES);
    const [old, now] = [checkpointOf(folder.checkpoint), checkpointOf(ledger.log.checkpoint())];
    const proof = await consistencyProof(tilesServedBy(ledger.log), LEAVES, LEAVES + 1);
    const sizes = { oldSize: old.size, oldRoot: old.root, newSize: now.size, newRoot: now.root };
    assert.ok(verifyConsistency({ ...sizes, proof }));
  });

  it('is complete or absent, and can be repeated after an interruption', async () => {
    const url = await postgres.fresh();
    await using folder = await filled();
    const stopping = new AbortController();
    const onProgress: Options['onProgress'] = ({ leaves }) => {
      if (leaves > 2_000) stopping.abort(new Error('stopped'));
    };
    await assert.rejects(bringOver(folder.path, url, { onProgress, signal: stopping.signal }), /stopped/);
    {
      await using shared = await openShared(url);
      assert.equal((await shared.log.head())?.size, 0);
      assert.equal((await shared.log.leaves(0, 10)).length, 0);
    }
    assert.equal(await append(folder.path, undefined, []), folder.checkpoint, 'the folder is as it was');
    assert.equal((await bringOver(folder.path, url)).added, LEAVES);
    // Ended between the commit and the closing of the folder.
    reopen(folder.path);
    assert.deepEqual((await bringOver(folder.path, url)).added, 0);
    assert.ok(existsSync(path.join(folder.path, 'ledger/ledger.db.moved')));
  });

  it('brings what came after an earlier copy, and is refused behind anything else', async () => {
    const url = await postgres.fresh();
    await using folder = await filled(700);
    await using earlier = await temporaryDirectory();
    cpSync(folder.path, earlier.path, { recursive: true });
    assert.equal((await bringOver(earlier.path, url)).added, 700);
    await append(folder.path, undefined, upTo(1_000).slice(700));
    assert.equal((await bringOver(folder.path, url)).added, 300);
    await append(folder.path, url, [1_000]);
    reopen(earlier.path);
    await assert.rejects(bringOver(earlier.path, url), failsWith('forked'), 'the database has more');

    const otherUrl = await postgres.fresh();
    await using other = await temporaryDirectory();
    cpSync(path.join(folder.path, 'keys'), path.join(other.path, 'keys'), { recursive: true });
    await append(other.path, otherUrl, upTo(10).reverse());
    await assert.rejects(bringOver(earlier.path, otherUrl), failsWith('forked'), 'another history');
    await using foreign = await filled(10);
    await assert.rejects(bringOver(foreign.path, otherUrl), failsWith('wrong-key'), 'of another ledger');
    await using ledger = await openLedgerOf(other.path, otherUrl);
    assert.equal(ledger.log.size, 10);
  });

  it('is not given up for a database that holds less, or another history', async () => {
    const url = await postgres.fresh();
    await using folder = await filled(300);
    await using copied = await temporaryDirectory();
    cpSync(path.join(folder.path, 'keys'), path.join(copied.path, 'keys'), { recursive: true });
    await using shared = await openShared(url);
    const checkpointCopy = { read: async () => folder.checkpoint, write: async () => {} };
    const own = { directory: copied.path, origin: ORIGIN, keySetPath: '/keys', now: () => new Date() };
    const withCopy = () => openSignedLedger({ ...own, shared, checkpointCopy });
    await assert.rejects(withCopy(), failsWith('not-moved'), 'the store has moved, and the ledger has not');
    await append(copied.path, url, []);
    await assert.rejects(withCopy(), failsWith('lost-leaves'));
    await bringOver(folder.path, url);
    await append(folder.path, url, upTo(400).slice(300));
    await assert.rejects(openLedgerOf(folder.path, await postgres.fresh()), failsWith('lost-leaves'), 'an empty one');
    {
      // As an older backup has it.
      await using _head = await altered(url, ['ledger_head'], '');
      await append(folder.path, url, [400]);
    }
    await exec(url, 'delete from ledger_leaves where leaf_index = 400');
    await assert.rejects(openLedgerOf(folder.path, url), failsWith('lost-leaves'));
    // Another node went on from there.
    await using fresh = await temporaryDirectory();
    cpSync(path.join(folder.path, 'keys'), path.join(fresh.path, 'keys'), { recursive: true });
    await append(fresh.path, url, [1_000, 1_001]);
    await assert.rejects(openLedgerOf(folder.path, url), failsWith('forked'));
  });

  it('comes back to a directory with every leaf, and goes on only there', async () => {
    const url = await postgres.fresh();
    await using folder = await filled(300);
    await bringOver(folder.path, url);
    await using database = await openShared(url);
    const older = await database.log.head();
    const back = async (directory = folder.path, table: Partial<LedgerTable> = {}) => {
      await using shared = await openShared(url);
      const from = { ...shared, log: withMethods(shared.log, table) };
      return await returnLedger({ directory, origin: ORIGIN, now: () => new Date(), from });
    };
    await using other = await temporaryDirectory();
    await assert.rejects(back(other.path), failsWith('wrong-key'), 'without keys');
    cpSync(path.join(folder.path, 'keys'), path.join(other.path, 'keys'), { recursive: true });
    await append(other.path, url, upTo(700).slice(300));
    const leaves = async (from: number, count: number) => upTo(count).map((n) => leafOf(Math.min(from + n, 600)));
    await assert.rejects(back(folder.path, { leaves }), failsWith('corrupt-checkpoint'));
    cpSync(path.join(other.path, 'ledger/checkpoint'), path.join(folder.path, 'ledger/checkpoint'));
    await assert.rejects(back(folder.path, { head: async () => older }), failsWith('lost-leaves'), 'an older backup');
    {
      await using node = await openLedgerOf(other.path, url);
      const whileItWorks = async (...args: Parameters<LedgerTable['close']>) => {
        await appendAll(node.log, [700]);
        await using shared = await openShared(url);
        return shared.log.close(...args);
      };
      await assert.rejects(back(folder.path, { close: whileItWorks }), failsWith('not-moved'));
      await assert.rejects(openLedgerOf(folder.path), failsWith('moved'), 'it is still that of the database');
      await appendAll(node.log, [701]);
      // Ended between the closing of the database and the name of the file.
      const killed = async (...args: Parameters<LedgerTable['close']>) => {
        await using shared = await openShared(url);
        await shared.log.close(...args);
        throw new Error('killed');
      };
      await assert.rejects(back(folder.path, { close: killed }), /killed/);
      await assert.rejects(node.log.append(leafOf(702)), failsWith('wrong-origin'));
    }
    await assert.rejects(openLedgerOf(folder.path), failsWith('moved'));
    await assert.rejects(back(other.path), failsWith('moved'), 'to another directory');
    const { size, added } = await back();
    assert.deepEqual([size, added], [702, 0]);
    await assert.rejects(back(), failsWith('not-moved'));
    await assert.rejects(openLedgerOf(other.path, url), /has moved to .+ledger: unset STRATA_DATABASE_URL/);
    const now = checkpointOf(await append(folder.path, undefined, [702]));
    assert.equal(now.size, 703);
  });

  it('comes back with the receipt keys of every node, to a directory with the newest ones', async () => {
    const url = await postgres.fresh();
    await using folder = await filled(10);
    await bringOver(folder.path, url);
    await append(folder.path, url, []);
    await using other = await temporaryDirectory();
    cpSync(path.join(folder.path, 'keys/ledger'), path.join(other.path, 'keys/ledger'), { recursive: true });
    await append(other.path, url, [10]);
    const now = () => new Date();
    await using shared = await openShared(url);
    const [kid] = await rotateSigningKeys(other.path, now, { origin: ORIGIN, shared });
    const close = async (...args: Parameters<LedgerTable['close']>) => {
      assert.equal((await readPublicKeys(other.path)).receipts.length, 3, 'written before');
      return shared.log.close(...args);
    };
    const from = { ...shared, log: withMethods(shared.log, { close }) };
    const back = (directory: string) => returnLedger({ directory, origin: ORIGIN, now, from });
    await assert.rejects(back(folder.path), failsWith('wrong-key'));
    assert.equal((await back(other.path)).added, 11);
    await using ledger = await openLedgerOf(other.path);
    const { keys } = ledger.keySet();
    assert.deepEqual([keys.length, keys[0]?.kid], [3, kid]);
  });
});
