// Rotations that go wrong half way, or at two places: the newest folder can sign whatever happens.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import { KEYRINGS, rotateSigningKeys, type SharedLedger } from '@strata/log';
import { ORIGIN, temporaryDirectory } from '../../../packages/log/src/test/fixture.ts';
import { failsWith } from '../../../packages/log/src/test/log-on-disk.ts';
import { postgresServer } from '../../../packages/store/src/test/places.ts';
import { binaries, notice, type PostgresCluster } from '../../../packages/store/src/test/postgres.ts';
import { openLedgerOf, openShared } from '../../support/shared-log/database.ts';
import { assertHolds, giveKeys, openTwoNodes } from '../../support/shared-log/key-folders.ts';

const MINUTE_MS = 60_000;

/** A database that breaks at the `at`th text that it is told, before it has it or when the answer is on its way. */
function breaking(shared: SharedLedger, { at, isTold }: { readonly at: number; readonly isTold: boolean }) {
  let texts = 0;
  const put = async (id: string, text: string) => {
    texts++;
    if (texts < at || isTold) await shared.keys.put(id, text);
    if (texts >= at) throw new Error('the connection broke');
  };
  return { place: shared.place, keys: { all: () => shared.keys.all(), put } };
}

describe('a rotation of the keys of several nodes', { skip: binaries ? false : notice }, () => {
  let server: PostgresCluster;
  before(async () => {
    server = await postgresServer();
  });

  for (const at of [1, 2])
    for (const isTold of [false, true])
      it(`that ends at text ${at}, ${isTold ? 'told' : 'not told'}, leaves keys that sign, here and elsewhere`, async () => {
        await using nodes = await openTwoNodes(await server.fresh());
        const { a, b, clock, one, two, url } = nodes;
        await using shared = await openShared(url);
        const ledger = { origin: ORIGIN, shared: breaking(shared, { at, isTold }) };
        await assert.rejects(rotateSigningKeys(one, clock, ledger), /the connection broke/);
        await a.reload();
        await b.reload();
        await assertHolds(a, b);
        await assertHolds(b, a);

        nodes.passMinutes(6);
        await a.reload();
        await assertHolds(a, b);
        await rotateSigningKeys(one, clock, { origin: ORIGIN, shared });
        await a.reload();
        giveKeys(one, two);
        await b.reload();
        nodes.passMinutes(6);
        await a.reload();
        await assertHolds(a, b);
        await assertHolds(b, a);
      });

  it('on two copies of the folder at once makes keys that both sign, and either folder can be chosen for all', async () => {
    await using nodes = await openTwoNodes(await server.fresh());
    const { a, b, clock, one, two, url } = nodes;
    await using shared = await openShared(url);
    await Promise.all([one, two].map((folder) => rotateSigningKeys(folder, clock, { origin: ORIGIN, shared })));
    await a.reload();
    await b.reload();
    nodes.passMinutes(6);
    await a.reload();
    await assertHolds(a, b);
    await assertHolds(b, a);
    giveKeys(one, two);
    await b.reload();
    await a.reload();
    assert.equal(b.signer.keyId, a.signer.keyId);
    await assertHolds(a, b);
    await assertHolds(b, a);
  });

  it('is not undone by an older folder that names the newer key as retired', async () => {
    const url = await server.fresh();
    let now = Date.now();
    const clock = () => new Date(now);
    await using one = await temporaryDirectory();
    await using older = await temporaryDirectory();
    await using newest = await temporaryDirectory();
    await using shared = await openShared(url);
    await using a = await openLedgerOf(one.path, url, clock);
    giveKeys(one.path, older.path);
    await rotateSigningKeys(one.path, clock, { origin: ORIGIN, shared });
    await a.reload();
    giveKeys(one.path, newest.path);
    // As restores of earlier versions did with the keys of before the rotation.
    for (const name of KEYRINGS) {
      const file = (directory: string) => path.join(directory, 'keys', name, 'signing-keys.json');
      const ringIn = (directory: string) => JSON.parse(readFileSync(file(directory), 'utf8')) as { keys: object[] };
      const [{ d: _private, ...newer }] = ringIn(one.path).keys as [{ readonly d: string }];
      const keys = [...ringIn(older.path).keys, { ...newer, not_after: clock().toISOString() }];
      writeFileSync(file(older.path), JSON.stringify({ version: 1, keys }), { mode: 0o600 });
    }
    giveKeys(older.path, one.path);
    await assert.rejects(a.reload(), failsWith('wrong-key'));
    now += 6 * MINUTE_MS;
    await assertHolds(a, a);
    giveKeys(newest.path, one.path);
    await a.reload();
    await assertHolds(a, a);
  });
});
