// A ledger's folder brought to a database: the same history goes on there, and nowhere else.
import assert from 'node:assert/strict';
import { cpSync, existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import { type ImportedLog, importLedger } from '@strata/log';
import { consistencyProof, verifyConsistency } from '@strata/receipts';
import { appendAll, upTo } from '../../../packages/log/src/test/conformance.ts';
import { idOf, leafOf, ORIGIN, temporaryDirectory, tilesServedBy } from '../../../packages/log/src/test/fixture.ts';
import { failsWith } from '../../../packages/log/src/test/log-on-disk.ts';
import { exec, postgresServer } from '../../../packages/store/src/test/places.ts';
import { binaries, notice, type PostgresCluster } from '../../../packages/store/src/test/postgres.ts';
import { openLedgerOf, openShared } from '../../support/shared-log/database.ts';

const LEAVES = 5_000;
const treeIn = (checkpoint: string): string => checkpoint.slice(0, checkpoint.indexOf('\n\n'));

async function bringOver(
  directory: string,
  url: string,
  more: Partial<Parameters<typeof importLedger>[0]> = {},
): Promise<ImportedLog> {
  await using shared = await openShared(url);
  return await importLedger({ directory, origin: ORIGIN, now: () => new Date(), place: shared.place, ...more });
}

/** A folder that some have written already, and its newest checkpoint. */
async function filled(leaves = LEAVES) {
  const directory = await temporaryDirectory();
  await using ledger = await openLedgerOf(directory.path);
  await appendAll(ledger.log, upTo(leaves));
  return Object.assign(directory, { checkpoint: ledger.log.checkpoint() });
}

describe('a ledger brought to a database', { skip: binaries ? false : notice }, () => {
  let server: PostgresCluster;
  before(async () => {
    server = await postgresServer();
  });

  it('goes on there, with every leaf, and not in its folder', async () => {
    const url = await server.fresh();
    await using folder = await filled();
    await assert.rejects(openLedgerOf(folder.path, url), failsWith('not-moved'));
    const seen = { written: 0, checked: 0 };
    const { size, added } = await bringOver(folder.path, url, {
      onProgress: ({ leaves, isChecking }) => {
        seen[isChecking ? 'checked' : 'written'] = leaves;
      },
    });
    assert.deepEqual([size, added, seen], [LEAVES, LEAVES, { written: LEAVES, checked: LEAVES }]);
    await assert.rejects(openLedgerOf(folder.path), failsWith('moved'));
    await assert.rejects(bringOver(folder.path, url), failsWith('moved'));

    await using ledger = await openLedgerOf(folder.path, url);
    assert.equal(ledger.log.checkpoint(), folder.checkpoint, 'the same signed checkpoint');
    for (const number of [0, 255, 256, 4_095, 4_096, LEAVES - 1])
      assert.equal((await ledger.log.receipt(idOf(leafOf(number))))?.index, number);
    assert.equal((await ledger.log.append(leafOf(LEAVES))).index, LEAVES);
    const [old, now] = [folder.checkpoint, ledger.log.checkpoint()].map(partsOf);
    const proof = await consistencyProof(tilesServedBy(ledger.log), LEAVES, LEAVES + 1);
    assert.ok(
      old &&
        now &&
        verifyConsistency({ oldSize: old.size, oldRoot: old.root, newSize: now.size, newRoot: now.root, proof }),
    );
  });

  it('comes whole or not at all, and again after an interruption', async () => {
    const url = await server.fresh();
    await using folder = await filled();
    const stopping = new AbortController();
    const onProgress = ({ leaves }: { readonly leaves: number }) =>
      leaves > 2_000 && stopping.abort(new Error('stopped'));
    await assert.rejects(bringOver(folder.path, url, { onProgress, signal: stopping.signal }), /stopped/);
    {
      await using shared = await openShared(url);
      assert.equal((await shared.place.turns.head())?.size, 0);
      assert.equal((await shared.place.rows.leaves(0, 10)).length, 0);
    }
    {
      await using ledger = await openLedgerOf(folder.path);
      assert.equal(ledger.log.checkpoint(), folder.checkpoint, 'the folder is as it was');
    }
    assert.equal((await bringOver(folder.path, url)).added, LEAVES);
    // Ended between the commit and the closing of the folder.
    rmSync(path.join(folder.path, 'ledger/moved'));
    assert.deepEqual((await bringOver(folder.path, url)).added, 0);
    assert.ok(existsSync(path.join(folder.path, 'ledger/moved')));
  });

  it('brings what came after an earlier copy, and is refused behind anything else', async () => {
    const url = await server.fresh();
    await using folder = await filled(700);
    await using earlier = await temporaryDirectory();
    cpSync(folder.path, earlier.path, { recursive: true });
    assert.equal((await bringOver(earlier.path, url)).added, 700);
    {
      await using ledger = await openLedgerOf(folder.path);
      await appendAll(ledger.log, upTo(1_000).slice(700));
    }
    assert.equal((await bringOver(folder.path, url)).added, 300);
    {
      await using ledger = await openLedgerOf(folder.path, url);
      await ledger.log.append(leafOf(1_000));
    }
    rmSync(path.join(earlier.path, 'ledger/moved'));
    await assert.rejects(bringOver(earlier.path, url), failsWith('forked'), 'the database has more');

    const others = await server.fresh();
    await using other = await temporaryDirectory();
    cpSync(path.join(folder.path, 'keys'), path.join(other.path, 'keys'), { recursive: true });
    {
      await using ledger = await openLedgerOf(other.path, others);
      await appendAll(ledger.log, upTo(10).reverse());
    }
    await assert.rejects(bringOver(earlier.path, others), failsWith('forked'), 'another history');
    await using stranger = await filled(10);
    await assert.rejects(bringOver(stranger.path, others), failsWith('wrong-key'), 'of others');
    await using ledger = await openLedgerOf(other.path, others);
    assert.equal(ledger.log.size, 10);
  });

  it('is not given up for a database that holds less, or another history', async () => {
    const url = await server.fresh();
    await using folder = await filled(300);
    await bringOver(folder.path, url);
    {
      await using ledger = await openLedgerOf(folder.path, url);
      await appendAll(ledger.log, upTo(400).slice(300));
    }
    await assert.rejects(openLedgerOf(folder.path, await server.fresh()), failsWith('lost-leaves'), 'an empty one');
    await exec(url, 'create table kept as select * from ledger_head');
    {
      await using ledger = await openLedgerOf(folder.path, url);
      await ledger.log.append(leafOf(400));
    }
    // As an older backup has it.
    await exec(
      url,
      'delete from ledger_head; insert into ledger_head select * from kept; delete from ledger_leaves where leaf_index = 400',
    );
    await assert.rejects(openLedgerOf(folder.path, url), failsWith('lost-leaves'));
    // Another node went on from there.
    await using fresh = await temporaryDirectory();
    cpSync(path.join(folder.path, 'keys'), path.join(fresh.path, 'keys'), { recursive: true });
    {
      await using other = await openLedgerOf(fresh.path, url);
      await appendAll(other.log, [1_000, 1_001]);
    }
    await assert.rejects(openLedgerOf(folder.path, url), failsWith('forked'));
  });
});

function partsOf(checkpoint: string) {
  const [, size = '', root = ''] = treeIn(checkpoint).split('\n');
  return { size: Number(size), root: new Uint8Array(Buffer.from(root, 'base64')) };
}
