// Rotations that go wrong half way, or at two places: the newest folder can sign whatever happens.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { KEYRINGS, rotateSigningKeys, type SharedLedger } from '@strata/log';
import { ORIGIN } from '../../../packages/log/src/test/fixture.ts';
import { failsWith } from '../../../packages/log/src/test/log-on-disk.ts';
import { postgres } from '../../../packages/store/src/test/places.ts';
import { assertBothHold, assertHolds, giveKeys, Nodes } from '../../support/shared-log/key-folders.ts';

/** A database that breaks at the `at`th text that it is given, before it has it or when the answer is on its way. */
function breaking({ place, keys }: SharedLedger, at: number, isWritten: boolean): SharedLedger {
  let texts = 0;
  const put = async (id: string, text: string) => {
    texts++;
    if (texts < at || isWritten) await keys.put(id, text);
    if (texts >= at) throw new Error('the connection broke');
  };
  return { place, keys: { all: () => keys.all(), put } };
}

describe('a rotation of the keys of several nodes', { skip: postgres.skip }, () => {
  for (const at of [1, 2])
    for (const isWritten of [false, true])
      it(`that ends at text ${at}, ${isWritten ? 'written' : 'not written'}, leaves keys that sign, here and elsewhere`, async () => {
        await using nodes = await Nodes.open();
        const { clock, shared } = nodes;
        const { a, b, one, two } = await nodes.two();
        const ledger = { origin: ORIGIN, shared: breaking(shared, at, isWritten) };
        await assert.rejects(rotateSigningKeys(one, clock, ledger), /the connection broke/);
        await a.reload();
        await b.reload();
        await assertBothHold(a, b);

        nodes.passMinutes(6);
        await a.reload();
        await assertHolds(a, b);
        await rotateSigningKeys(one, clock, { origin: ORIGIN, shared });
        await a.reload();
        giveKeys(one, two);
        await b.reload();
        nodes.passMinutes(6);
        await a.reload();
        await assertBothHold(a, b);
      });

  it('on two copies of the folder at once makes keys that both sign, and either folder can be chosen for all', async () => {
    await using nodes = await Nodes.open();
    const { clock, shared } = nodes;
    const { a, b, one, two } = await nodes.two();
    await Promise.all([one, two].map((folder) => rotateSigningKeys(folder, clock, { origin: ORIGIN, shared })));
    await a.reload();
    await b.reload();
    nodes.passMinutes(6);
    await a.reload();
    await assertBothHold(a, b);
    giveKeys(one, two);
    await b.reload();
    await a.reload();
    assert.equal(b.signer.keyId, a.signer.keyId);
    await assertBothHold(a, b);
  });

  it('is not undone by an older folder that names the newer key as retired', async () => {
    await using nodes = await Nodes.open();
    const { clock, shared } = nodes;
    const one = await nodes.directory();
    const a = await nodes.node(one);
    const older = await nodes.directory(one);
    await rotateSigningKeys(one, clock, { origin: ORIGIN, shared });
    await a.reload();
    const newest = await nodes.directory(one);
    // As restores of earlier versions did with the keys of before the rotation.
    for (const name of KEYRINGS) {
      const file = (directory: string) => path.join(directory, 'keys', name, 'signing-keys.json');
      const ringIn = (directory: string) => JSON.parse(readFileSync(file(directory), 'utf8')) as { keys: object[] };
      const [{ d: _private, ...newer }] = ringIn(one).keys as [{ readonly d: string }];
      const keys = [...ringIn(older).keys, { ...newer, not_after: clock().toISOString() }];
      writeFileSync(file(older), JSON.stringify({ version: 1, keys }), { mode: 0o600 });
    }
    giveKeys(older, one);
    await assert.rejects(a.reload(), failsWith('wrong-key'));
    nodes.passMinutes(6);
    await assertHolds(a, a);
    giveKeys(newest, one);
    await a.reload();
    await assertHolds(a, a);
  });
});
