// Signing keys of several nodes: one key for checkpoints, a key set that knows the receipt keys of all, rotations that
// reach everyone, also those that fail half way or run on two nodes.
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { chmodSync, chownSync, cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import * as log from '@strata/log';
import { openNote, publishedLedger, vouchedKeys } from '@strata/receipts';
import { leafOf, ORIGIN } from '../../../packages/log/src/test/fixture.ts';
import { failsWith } from '../../../packages/log/src/test/log-on-disk.ts';
import { exec, postgres, rows } from '../../../services/stack/src/store/test/backends.ts';
import { openLedgerOf } from '../../support/shared-log/database.ts';
import { assertBothHold, assertHolds, giveKeys, Nodes, reload } from '../../support/shared-log/key-folders.ts';

const { KEYRINGS, KeyringError, openKeyring, rotateSigningKeys } = log;

const isSignedBy = async (ledger: log.SignedLedger, keys: log.SignedLedger): Promise<boolean> =>
  (await openNote(ledger.log.checkpoint(), publishedLedger(keys.keySet()).verifiers.slice(0, 1))).ok;

describe('the keys of several nodes', { skip: postgres.skip }, () => {
  it('are taken from a folder that cannot be written', async (t) => {
    if (process.getuid?.() !== 0) return t.skip('only root can be another user for a moment');
    await using nodes = await Nodes.open();
    const directory = await nodes.directory();
    await (await openLedgerOf(directory, nodes.url))[Symbol.asyncDispose]();
    const UNPRIVILEGED = 65_534;
    for (const folder of ['receipts', 'ledger'].map((name) => path.join(directory, 'keys', name))) {
      const file = path.join(folder, 'signing-keys.json');
      chownSync(file, UNPRIVILEGED, UNPRIVILEGED);
      chmodSync(file, 0o400);
      chmodSync(folder, 0o555);
    }
    chmodSync(directory, 0o755);
    chmodSync(path.join(directory, 'ledger'), 0o777);
    process.seteuid?.(UNPRIVILEGED);
    try {
      await using ledger = await openLedgerOf(directory, nodes.url);
      await assertHolds(ledger, ledger);
      await ledger.reload();
    } finally {
      process.seteuid?.(0);
    }
  });

  it('for checkpoints are one key: a node with another does not start', async () => {
    await using nodes = await Nodes.open();
    const { a } = await nodes.one();
    const two = await nodes.directory();
    const before = a.log.checkpoint();
    const message = /give every node the same keys folder/;
    await assert.rejects(nodes.node(two), { code: 'wrong-key', message });
    assert.equal(a.log.checkpoint(), before);
    assert.equal(a.keySet().keys.length, 1, 'no foreign key is published');
  });

  it('are rotated on one node: the other nodes use theirs while verifiers accept them, and need the new folder then', async () => {
    await using nodes = await Nodes.open();
    const { a, b, one, two } = await nodes.two();
    assert.deepEqual(b.keySet(), a.keySet());
    await assertBothHold(a, b);
    const stale = await nodes.directory(one);
    await b.log.append(leafOf(0));
    const pinned = publishedLedger(a.keySet()).verifiers;

    await rotateSigningKeys(one, nodes.clock, { origin: ORIGIN });
    await a.reload();
    assert.ok(await isSignedBy(a, a), 'the current checkpoint is signed again');
    await assertHolds(a, a);
    // The node with the old folder believes the new key, serves it, and what either signs holds at both.
    await assertHolds(b, b);
    await b.reload();
    await assertBothHold(a, b);
    await a.reload();
    assert.deepEqual(b.keySet(), a.keySet());
    assert.equal((await vouchedKeys(pinned, b.keySet().ledger.rotations ?? [])).length, 2, 'the old key vouches');
    assert.equal(b.problem(), undefined);
    await assert.rejects(nodes.node(stale), /was retired on .+ newest keys folder/);

    nodes.passMinutes(6);
    const served = b.log.checkpoint();
    assert.throws(() => b.issuing(), KeyringError);
    await assert.rejects(b.log.append(leafOf(1)), failsWith('wrong-key'));
    assert.equal(b.log.checkpoint(), served, 'what it has served still stands');
    assert.match(b.problem() ?? '', /^cannot sign: .+ give this one the newest keys folder$/);
    assert.equal(a.problem(), undefined);
    await a.log.append(leafOf(2));

    giveKeys(one, two);
    await b.reload();
    assert.equal(b.problem(), undefined);
    await b.log.append(leafOf(3));
    await a.reload();
    assert.deepEqual(b.keySet(), a.keySet());
    const states = a.keySet().keys.map(({ status }) => status);
    assert.deepEqual(states, ['current', 'retired']);
    assert.ok(await isSignedBy(b, a));
    await assertBothHold(a, b);
  });

  it('are rotated in a copy of the folder while no node of it runs: a node that starts with it is believed', async () => {
    await using nodes = await Nodes.open();
    const { one, a } = await nodes.one();
    const [copy, older] = [await nodes.directory(one), await nodes.directory(one)];
    // Twice: the key in between never signed anything but the text that names the next one.
    await nodes.rotate(copy);
    await nodes.rotate(copy);
    const b = await nodes.node(copy);
    await b.log.append(leafOf(0));
    await a.reload();
    await assertBothHold(b, a);
    assert.equal(a.keySet().ledger.verifier_keys.length, 3);

    const fileOfOlder = () => readFileSync(path.join(older, 'keys/ledger/signing-keys.json'), 'utf8');
    const before = fileOfOlder();
    await assert.rejects(nodes.rotate(older), /was retired on .+ newest keys folder/);
    assert.equal(fileOfOlder(), before);
    const [empty, foreign] = [await nodes.directory(), await nodes.directory()];
    await assert.rejects(nodes.rotate(empty), failsWith('wrong-key'));
    assert.deepEqual(readdirSync(empty), [], 'no key was made that would be of no ledger');
    await rotateSigningKeys(foreign, nodes.clock, { origin: ORIGIN });
    await assert.rejects(nodes.rotate(foreign), failsWith('wrong-key'));
    // The ledger's, the two of them that are retired, those of receipts.
    assert.equal((await nodes.shared.keys.all()).size, 3 + 2 + 3);
  });

  it('that were rotated without a word to the database leave no receipt behind that was given until they came', async () => {
    await using nodes = await Nodes.open();
    const { one, a } = await nodes.one();
    const copy = await nodes.directory(one);
    await rotateSigningKeys(copy, nodes.clock, { origin: ORIGIN });
    nodes.passMinutes(60);
    await assertHolds(a, a, async () => {
      giveKeys(copy, one);
      await a.reload();
    });
    await assertHolds(a, a);
  });

  it('are vouched for by the key that they replace, and by no other', async () => {
    await using nodes = await Nodes.open();
    const { a, b, two } = await nodes.two();
    const foreign = await nodes.directory();
    const before = a.keySet();
    // Other keys than those of a rotation, put into the folder of a running node.
    await rotateSigningKeys(foreign, nodes.clock, { origin: ORIGIN });
    giveKeys(foreign, two);
    await assert.rejects(b.reload(), failsWith('wrong-key'));
    await assertHolds(b, a);
    await a.reload();
    assert.deepEqual(a.keySet(), before);
    await assertHolds(a, b);
  });

  it('are rotated in a folder that all have, without an append refused', async () => {
    await using nodes = await Nodes.open();
    const { one, a } = await nodes.one();
    const two = await nodes.directory();
    symlinkSync(path.join(one, 'keys'), path.join(two, 'keys'));
    const b = await nodes.node(two);
    await rotateSigningKeys(one, nodes.clock, { origin: ORIGIN });
    // One has noticed, the other has not.
    await a.reload();
    await a.log.append(leafOf(0));
    await b.log.append(leafOf(1));
    await a.log.append(leafOf(2));
    assert.ok(await isSignedBy(b, a));
  });

  it('for receipts may be several: the key set knows those of all nodes before they sign', async () => {
    await using nodes = await Nodes.open();
    const { one, a } = await nodes.one();
    const two = await nodes.directory();
    cpSync(path.join(one, 'keys/ledger'), path.join(two, 'keys/ledger'), { recursive: true });
    const b = await nodes.node(two);
    await a.reload();
    assert.deepEqual(a.keySet(), b.keySet());
    assert.equal(a.keySet().keys.length, 2);
    await assertBothHold(b, a);

    // A copy of a node's key that misses its rotation signs on for as long as verifiers take it.
    const copy = await nodes.directory(two);
    const late = await nodes.node(copy);
    await (await openKeyring({ directory: path.join(two, 'keys/receipts'), now: nodes.clock })).rotate();
    await reload(b, late);
    nodes.passMinutes(1);
    await assertHolds(late, b);
    nodes.passMinutes(5);
    assert.throws(() => late.issuing(), KeyringError);
    assert.match(late.problem() ?? '', /give this one the newest keys folder/);
    await assert.rejects(nodes.node(copy), /give this node the newest keys folder/);
    giveKeys(two, copy);
    await late.reload();
    await assertHolds(late, b);
  });

  it('that only the database names are in no key set', async () => {
    await using nodes = await Nodes.open();
    const { one: directory, a: ledger } = await nodes.one();
    const before = ledger.keySet();
    const [kid = ''] = before.keys.map((key) => key.kid);
    const forged = `receipt key of ${ORIGIN}\n{"x":"${hash('sha256', 'x', 'base64url')}","not_before":"2020-01-01T00:00:00.000Z"}\n`;
    const signature = `— ${ORIGIN} AAAAAAAA`;
    await exec(
      nodes.url,
      `insert into ledger_keys values ('other', '${forged}\n${signature}\n'), ('none', 'x'), ('', '')`,
    );
    await exec(nodes.url, `insert into ledger_keys select 'copy', key from ledger_keys where kid = '${kid}'`);
    await ledger.reload();
    assert.deepEqual(ledger.keySet(), before);
    await exec(nodes.url, 'update ledger_keys set key = replace(key, \'"not_before":"20\', \'"not_before":"10\')');
    assert.deepEqual((await nodes.node(directory)).keySet(), before, 'its own are put right');
    const file = readFileSync(path.join(directory, 'keys/receipts/signing-keys.json'), 'utf8');
    const [secret] = (JSON.parse(file) as { keys: [{ d: string }] }).keys;
    const published = JSON.stringify(await rows(nodes.url, 'select key from ledger_keys'));
    assert.ok(!published.includes(secret.d), 'no private half');
  });
});

/** A database that fails at the `at`th write, before the write or before its answer. */
function breaking({ log, keys }: log.LedgerTables, at: number, isWritten: boolean): log.LedgerTables {
  let texts = 0;
  const put = async (id: string, text: string) => {
    texts++;
    if (texts < at || isWritten) await keys.put(id, text);
    if (texts >= at) throw new Error('the connection broke');
  };
  return { log, keys: { all: () => keys.all(), put } };
}

describe('a rotation of the keys of several nodes', { skip: postgres.skip }, () => {
  for (const at of [1, 2])
    for (const isWritten of [false, true])
      it(`that ends at text ${at}, ${isWritten ? 'written' : 'not written'}, leaves keys that sign, here and elsewhere`, async () => {
        await using nodes = await Nodes.open();
        const { a, b, one, two } = await nodes.two();
        await assert.rejects(nodes.rotate(one, breaking(nodes.shared, at, isWritten)), /the connection broke/);
        await reload(a, b);
        await assertBothHold(a, b);

        nodes.passMinutes(6);
        await a.reload();
        await assertHolds(a, b);
        await nodes.rotate(one);
        await a.reload();
        giveKeys(one, two);
        await b.reload();
        nodes.passMinutes(6);
        await a.reload();
        await assertBothHold(a, b);
      });

  it('on two copies of the folder at once makes keys that both sign, and either folder can be chosen for all', async () => {
    await using nodes = await Nodes.open();
    const { a, b, one, two } = await nodes.two();
    await nodes.rotateAtOnce([one, two]);
    await reload(a, b);
    nodes.passMinutes(6);
    await a.reload();
    await assertBothHold(a, b);
    giveKeys(one, two);
    await reload(b, a);
    assert.equal(b.signer.keyId, a.signer.keyId);
    await assertBothHold(a, b);
  });

  it('is not undone by an older folder that names the newer key as retired', async () => {
    await using nodes = await Nodes.open();
    const { one, a } = await nodes.one();
    const older = await nodes.directory(one);
    await nodes.rotate(one);
    await a.reload();
    const newest = await nodes.directory(one);
    // As restores of earlier versions did with the keys of before the rotation.
    for (const name of KEYRINGS) {
      const file = (directory: string) => path.join(directory, 'keys', name, 'signing-keys.json');
      const ringIn = (directory: string) => JSON.parse(readFileSync(file(directory), 'utf8')) as { keys: object[] };
      const [{ d: _private, ...newer }] = ringIn(one).keys as [{ readonly d: string }];
      const keys = [...ringIn(older).keys, { ...newer, not_after: nodes.clock().toISOString() }];
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
