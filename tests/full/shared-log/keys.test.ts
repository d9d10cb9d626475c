// Signing keys of several nodes: one key for checkpoints, a key set that knows the receipt keys of all, rotations that reach everyone.
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { chmodSync, chownSync, cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import { KeyringError, openKeyring, rotateSigningKeys, type SignedLedger } from '@strata/log';
import { issueReceipt, ledgerVerifiers, openNote, verifyAnswer } from '@strata/receipts';
import { leafOf, ORIGIN, temporaryDirectory } from '../../../packages/log/src/test/fixture.ts';
import { failsWith } from '../../../packages/log/src/test/log-on-disk.ts';
import { exec, postgresServer } from '../../../packages/store/src/test/places.ts';
import { binaries, notice, type PostgresCluster } from '../../../packages/store/src/test/postgres.ts';
import { openLedgerOf, openShared } from '../../support/shared-log/database.ts';
import { assertHolds, giveKeys, openTwoNodes } from '../../support/shared-log/key-folders.ts';

const MINUTE_MS = 60_000;

const isSignedBy = async (ledger: SignedLedger, keys: SignedLedger): Promise<boolean> =>
  (await openNote(ledger.log.checkpoint(), ledgerVerifiers(keys.keySet()).verifiers.slice(0, 1))).ok;

describe('the keys of several nodes', { skip: binaries ? false : notice }, () => {
  let server: PostgresCluster;
  before(async () => {
    server = await postgresServer();
  });

  it('make answers of each that hold at the others', async () => {
    await using nodes = await openTwoNodes(await server.fresh());
    const { a, b } = nodes;
    assert.deepEqual(b.keySet(), a.keySet());
    await assertHolds(a, b);
    await assertHolds(b, a);
  });

  it('are taken from a folder that cannot be written', async (t) => {
    if (process.getuid?.() !== 0) return t.skip('only root can be another user for a moment');
    const url = await server.fresh();
    await using directory = await temporaryDirectory();
    {
      await using _first = await openLedgerOf(directory.path, url);
    }
    const NOBODY = 65_534;
    for (const name of ['receipts', 'ledger']) {
      const folder = path.join(directory.path, 'keys', name);
      chownSync(path.join(folder, 'signing-keys.json'), NOBODY, NOBODY);
      chmodSync(path.join(folder, 'signing-keys.json'), 0o400);
      chmodSync(folder, 0o555);
    }
    chmodSync(directory.path, 0o755);
    chmodSync(path.join(directory.path, 'ledger'), 0o777);
    process.seteuid?.(NOBODY);
    try {
      await using ledger = await openLedgerOf(directory.path, url);
      await assertHolds(ledger, ledger);
      await ledger.reload();
    } finally {
      process.seteuid?.(0);
    }
  });

  it('for checkpoints are one key: a node with another does not start', async () => {
    const url = await server.fresh();
    await using one = await temporaryDirectory();
    await using two = await temporaryDirectory();
    await using a = await openLedgerOf(one.path, url);
    const before = a.log.checkpoint();
    await assert.rejects(openLedgerOf(two.path, url), /give every node the same keys folder/);
    await assert.rejects(openLedgerOf(two.path, url), failsWith('wrong-key'));
    assert.equal(a.log.checkpoint(), before);
    assert.equal(a.keySet().keys.length, 1, 'nothing of the stranger is published');
  });

  it('are rotated on one node: the others go on with theirs for as long as verifiers take them, and need the folder then', async () => {
    await using nodes = await openTwoNodes(await server.fresh());
    const { a, b, clock, one, two, url } = nodes;
    const stale = await nodes.directory({ hasKeys: true });
    await b.log.append(leafOf(0));

    await rotateSigningKeys(one, clock);
    await a.reload();
    assert.ok(await isSignedBy(a, a), 'the present checkpoint is signed anew');
    await assertHolds(a, a);
    // The node with the old folder believes the new key, serves it, and what either signs holds at both.
    await assertHolds(b, b);
    await b.reload();
    await assertHolds(a, b);
    await assertHolds(b, a);
    await a.reload();
    assert.deepEqual(b.keySet(), a.keySet());
    assert.equal(b.trouble(), undefined);
    await assert.rejects(openLedgerOf(stale, url, clock), /was retired on .+ newest keys folder/);

    nodes.passMinutes(6);
    const served = b.log.checkpoint();
    assert.throws(() => b.issuing(), KeyringError);
    await assert.rejects(b.log.append(leafOf(1)), failsWith('wrong-key'));
    assert.equal(b.log.checkpoint(), served, 'what it has served still stands');
    assert.match(b.trouble() ?? '', /^cannot sign: .+ give this one the newest keys folder$/);
    assert.equal(a.trouble(), undefined);
    await a.log.append(leafOf(2));

    giveKeys(one, two);
    await b.reload();
    assert.equal(b.trouble(), undefined);
    await b.log.append(leafOf(3));
    await a.reload();
    assert.deepEqual(b.keySet(), a.keySet());
    assert.deepEqual(
      a.keySet().keys.map(({ status }) => status),
      ['current', 'retired'],
    );
    assert.ok(await isSignedBy(b, a));
    await assertHolds(a, b);
    await assertHolds(b, a);
  });

  it('are rotated in a copy of the folder while no node of it runs: a node that starts with it is believed', async () => {
    const url = await server.fresh();
    await using shared = await openShared(url);
    const ledger = { origin: ORIGIN, shared };
    const clock = () => new Date();
    await using one = await temporaryDirectory();
    await using copy = await temporaryDirectory();
    await using older = await temporaryDirectory();
    await using a = await openLedgerOf(one.path, url);
    giveKeys(one.path, copy.path);
    giveKeys(one.path, older.path);
    // Twice: the key in between never signed anything but the word for the next one.
    await rotateSigningKeys(copy.path, clock, ledger);
    await rotateSigningKeys(copy.path, clock, ledger);
    await using b = await openLedgerOf(copy.path, url);
    await b.log.append(leafOf(0));
    await a.reload();
    await assertHolds(b, a);
    await assertHolds(a, b);
    assert.equal(a.keySet().ledger.verifier_keys.length, 3);

    const before = readFileSync(path.join(older.path, 'keys/ledger/signing-keys.json'), 'utf8');
    await assert.rejects(rotateSigningKeys(older.path, clock, ledger), /was retired on .+ newest keys folder/);
    assert.equal(readFileSync(path.join(older.path, 'keys/ledger/signing-keys.json'), 'utf8'), before);
    await using empty = await temporaryDirectory();
    await assert.rejects(rotateSigningKeys(empty.path, clock, ledger), failsWith('wrong-key'));
    assert.deepEqual(readdirSync(empty.path), [], 'no key was made that would be of no ledger');
    await using stranger = await temporaryDirectory();
    await rotateSigningKeys(stranger.path, clock);
    await assert.rejects(rotateSigningKeys(stranger.path, clock, ledger), failsWith('wrong-key'));
    assert.equal(
      (await shared.keys.all()).size,
      3 + 2 + 3,
      "the ledger's, the two of them that are retired, those of receipts",
    );
  });

  it('that were rotated without a word to the database leave no receipt behind that was given until they came', async () => {
    const url = await server.fresh();
    let now = Date.now();
    const clock = () => new Date(now);
    await using one = await temporaryDirectory();
    await using copy = await temporaryDirectory();
    await using a = await openLedgerOf(one.path, url, clock);
    giveKeys(one.path, copy.path);
    await rotateSigningKeys(copy.path, clock);
    now += 60 * MINUTE_MS;
    const issued = issueReceipt({ said: 'an hour later' }, a.issuing());
    await a.log.append(issued.leaf);
    giveKeys(copy.path, one.path);
    await a.reload();
    const ledgerReceipt = await a.log.receipt(issued.body.provenance.ledger_receipt_id);
    const { ok, steps } = await verifyAnswer(issued.body, { keySet: a.keySet(), ledgerReceipt });
    assert.ok(ok, JSON.stringify(steps.at(-1)));
    await assertHolds(a, a);
  });

  it('are vouched for by the key that they replace, and by no other', async () => {
    await using nodes = await openTwoNodes(await server.fresh());
    const { a, b, two } = nodes;
    const stranger = await nodes.directory();
    const before = a.keySet();
    // Other keys than those of a rotation, put into the folder of a running node.
    await rotateSigningKeys(stranger, () => new Date());
    giveKeys(stranger, two);
    await assert.rejects(b.reload(), failsWith('wrong-key'));
    await assertHolds(b, a);
    await a.reload();
    assert.deepEqual(a.keySet(), before);
    await assertHolds(a, b);
  });

  it('are rotated in a folder that all have, without an append refused', async () => {
    const url = await server.fresh();
    await using one = await temporaryDirectory();
    await using two = await temporaryDirectory();
    await using a = await openLedgerOf(one.path, url);
    symlinkSync(path.join(one.path, 'keys'), path.join(two.path, 'keys'));
    await using b = await openLedgerOf(two.path, url);
    await rotateSigningKeys(one.path, () => new Date());
    // One has noticed, the other has not.
    await a.reload();
    await a.log.append(leafOf(0));
    await b.log.append(leafOf(1));
    await a.log.append(leafOf(2));
    assert.ok(await isSignedBy(b, a));
  });

  it('for receipts may be several: the key set knows those of all nodes before they sign', async () => {
    const url = await server.fresh();
    let now = Date.now();
    const clock = () => new Date(now);
    await using one = await temporaryDirectory();
    await using two = await temporaryDirectory();
    await using a = await openLedgerOf(one.path, url, clock);
    mkdirSync(path.join(two.path, 'keys'));
    cpSync(path.join(one.path, 'keys/ledger'), path.join(two.path, 'keys/ledger'), { recursive: true });
    await using b = await openLedgerOf(two.path, url, clock);
    await a.reload();
    assert.deepEqual(a.keySet(), b.keySet());
    assert.equal(a.keySet().keys.length, 2);
    await assertHolds(b, a);
    await assertHolds(a, b);

    // A copy of a node's key that misses its rotation signs on for as long as verifiers take it.
    await using copy = await temporaryDirectory();
    giveKeys(two.path, copy.path);
    await using late = await openLedgerOf(copy.path, url, clock);
    await (await openKeyring({ directory: path.join(two.path, 'keys/receipts'), now: clock })).rotate();
    await b.reload();
    await late.reload();
    now += MINUTE_MS;
    await assertHolds(late, b);
    now += 5 * MINUTE_MS;
    assert.throws(() => late.issuing(), KeyringError);
    assert.match(late.trouble() ?? '', /give this one the newest keys folder/);
    await assert.rejects(openLedgerOf(copy.path, url, clock), /give this node the newest keys folder/);
    giveKeys(two.path, copy.path);
    await late.reload();
    await assertHolds(late, b);
  });

  it('that only the database names are in no key set', async () => {
    const url = await server.fresh();
    await using directory = await temporaryDirectory();
    await using ledger = await openLedgerOf(directory.path, url);
    const before = ledger.keySet();
    const [kid = ''] = before.keys.map((key) => key.kid);
    const forged = `receipt key of strata.example/ledger\n{"x":"${hash('sha256', 'x', 'base64url')}","not_before":"2020-01-01T00:00:00.000Z"}\n`;
    const signature = '— strata.example/ledger AAAAAAAA';
    await exec(url, `insert into ledger_keys values ('other', '${forged}\n${signature}\n'), ('none', 'x'), ('', '')`);
    await exec(url, `insert into ledger_keys select 'copy', key from ledger_keys where kid = '${kid}'`);
    await ledger.reload();
    assert.deepEqual(ledger.keySet(), before);
    await exec(url, 'update ledger_keys set key = replace(key, \'"not_before":"20\', \'"not_before":"10\')');
    await using again = await openLedgerOf(directory.path, url);
    assert.deepEqual(again.keySet(), before, 'its own are put right');
    const file = readFileSync(path.join(directory.path, 'keys/receipts/signing-keys.json'), 'utf8');
    assert.ok(
      !(await keysIn(url)).includes((JSON.parse(file) as { keys: [{ d: string }] }).keys[0].d),
      'no private half',
    );
  });

  async function keysIn(url: string): Promise<string> {
    const { rows } = await server.sql(
      'select string_agg(key, chr(10)) as all from ledger_keys',
      new URL(url).pathname.slice(1),
    );
    return String(rows[0]?.all);
  }
});
