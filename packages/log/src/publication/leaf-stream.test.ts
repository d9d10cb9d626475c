// A log read while it is written to, and made again from its leaves; its keys, restored without private halves.
import assert from 'node:assert/strict';
import { createPublicKey, verify } from 'node:crypto';
import * as fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { replaceFile } from '@strata/files';
import { issueReceipt, jwkThumbprint, KEY_OVERLAP_MS, leafHash, verifyAnswer } from '@strata/receipts';
import { temporaryDirectory } from '../../../../tests/support/temporary-directory.ts';
import * as logs from '../index.ts';
import { KeyringError, outsideSpan } from '../keys/signing-keys.ts';
import { copyLeaves } from '../rows/copy-leaves.ts';
import { signedHead } from '../rows/head.ts';
import { TreeEdge } from '../rows/tree-edge.ts';
import { appendAll, upTo } from '../test/conformance.ts';
import { idOf, keysOf, leafOf, ORIGIN, testSigner } from '../test/fixture.ts';
import { checked, failsWith, inDirectory, logOf, openIn } from '../test/log-on-disk.ts';

const { decodeLeaves, openKeyring, readDirectoryLog, restoreKeys } = logs;

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
async function checkedLeaves(directory: string): Promise<Uint8Array[]> {
  await using log = await readDirectoryLog(directory);
  return await collect(new logs.CheckedLeaves(log.note).through(log.leaves()));
}

for (const size of [0, 1, 256, 2_300])
  inDirectory(`of ${size} leaves is the same log and can be appended to`, async (from) => {
    await using to = await temporaryDirectory();
    await logOf(from, size);
    {
      await using log = await readDirectoryLog(from);
      await using tables = await logs.createDirectoryLog(to.path);
      const leaves = decodeLeaves(inPieces(log.leaves(), 1_000));
      const notes = [log.note ?? assert.fail()];
      await copyLeaves({ origin: ORIGIN, keys: keysOf(2), table: tables.log, leaves, notes });
      assert.equal((await tables.log.head())?.note, log.note);
    }
    {
      await using log = await openIn(to.path);
      assert.equal(log.size, size);
      if (size > 0) assert.equal((await log.receipt(idOf(leafOf(size - 1))))?.index, size - 1);
      await appendAll(log, upTo(size + 300).slice(size));
    }
    assert.equal(await checked(to.path), size + 300);
  });

inDirectory('a copy of a log has every leaf acknowledged before it began, while more are written', async (from) => {
  await using log = await openIn(from);
  for (let acknowledged = 0; acknowledged < 5_000; acknowledged += 1_000) {
    const writing = appendAll(log, upTo(acknowledged + 1_000).slice(acknowledged));
    const leaves = await checkedLeaves(from);
    assert.ok(leaves.length >= acknowledged, `${leaves.length} of ${acknowledged}`);
    const last = leaves.at(-1);
    if (last) assert.equal(idOf(last), idOf(leafOf(leaves.length - 1)));
    await writing;
  }
});

it('a copy of a log is refused where the leaves do not lead to the checkpoint', async () => {
  const leaves = upTo(600).map(leafOf);
  const { edge } = TreeEdge.empty.grow(leaves.map((leaf) => leafHash(leaf)));
  const { note } = signedHead(ORIGIN, edge, testSigner());
  const read = (changed: readonly Uint8Array[]) => collect(new logs.CheckedLeaves(note).through(stream(changed)));
  assert.equal((await read(leaves)).length, 600);
  assert.equal((await read([...leaves, leafOf(600)])).length, 601);
  await assert.rejects(read(leaves.slice(0, -1)), failsWith('lost-leaves'));
  await assert.rejects(read([leafOf(9), ...leaves.slice(1)]), failsWith('corrupt-checkpoint'));
  await assert.rejects(collect(decodeLeaves(stream(new Uint8Array([0, 9, 1])))), failsWith('lost-leaves'));
  assert.deepEqual(logs.receiptIdsOf([leafOf(5)]), [idOf(leafOf(5))]);
});

it('a copy of a log is refused where leaves are missing', async () => {
  const all = upTo(1_500).map(leafOf);
  const read = (size: number) =>
    collect(logs.readLeaves({ leaves: async (from, count) => all.slice(from, from + count) }, { size }));
  assert.deepEqual(await read(1_500), all);
  await assert.rejects(read(1_501), failsWith('lost-leaves'));
});

const [START, LATER] = [new Date('2026-01-01T00:00:00.000Z'), new Date('2026-02-01T00:00:00.000Z')] as const;
const open = (directory: string, time = START) => openKeyring({ directory, now: () => time });

describe('copied keys', () => {
  const now = new Date('2026-01-02T00:00:00Z');
  const ring = (directory: string, name: string) => open(path.join(directory, 'keys', name), now);
  const filled = async (directory: string) => {
    const receipts = await ring(directory, 'receipts');
    await receipts.rotate();
    return { receipts, ledger: await ring(directory, 'ledger') };
  };

  inDirectory('are public unless all are requested, and then in a file of its owner alone', async (from) => {
    await using to = await temporaryDirectory();
    const [before, published] = [await filled(from), await logs.readPublicKeys(from)];
    assert.doesNotMatch(JSON.stringify(published), /"d"/);
    const file = path.join(from, 'keys.json');
    await logs.writeKeysFile(from, file);
    assert.equal(fs.statSync(file).mode & 0o777, 0o600);
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
    const retired = before.receipts.keys.map(({ kid }) => [kid, 'retired']);
    const statuses = after.keys.map(({ kid, status }) => [kid, status]);
    assert.deepEqual(statuses, [[after.signer.keyId, 'current'], ...retired]);
    // Once more: the current key stays.
    assert.deepEqual(await restoreKeys(to.path, { published, now }), []);
    const again = await ring(to.path, 'receipts');
    assert.deepEqual([again.signer.keyId, again.keys.length], [after.signer.keyId, 3]);
  });
});

const fileIn = (directory: string): string => path.join(directory, 'signing-keys.json');
const privateKeysIn = (directory: string): number => fs.readFileSync(fileIn(directory), 'utf8').split('"d"').length - 1;

describe('a file that is replaced', () => {
  inDirectory('is not written through a link at the path of the new one', async (directory) => {
    const [file, secret] = [path.join(directory, 'keys'), path.join(directory, 'secret')];
    fs.writeFileSync(secret, 'of another user');
    const waiting = `${file}.new`;
    fs.symlinkSync(secret, waiting);
    await replaceFile(file, Buffer.from('new'), { sync: 'none' });
    assert.deepEqual([fs.readFileSync(secret, 'utf8'), fs.readFileSync(file, 'utf8')], ['of another user', 'new']);
    assert.deepEqual([fs.lstatSync(file).isFile(), fs.existsSync(waiting)], [true, false]);
  });
});

describe('the keyring', () => {
  inDirectory('makes a private key on first start and finds it again', async (parent) => {
    const directory = path.join(parent, 'new');
    const { keys, signer } = await open(directory);
    const again = await open(directory, LATER);
    assert.deepEqual([again.keys, again.signer.keyId], [keys, signer.keyId]);
    const [key = assert.fail()] = keys;
    assert.equal(key.kid, jwkThumbprint(key));
    assert.deepEqual([key.status, key.not_before, key.not_after], ['current', START.toISOString(), undefined]);
    const bytes = Buffer.from('bytes');
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: key.x }, format: 'jwk' });
    assert.ok(verify(null, bytes, publicKey, signer.sign(bytes)));
    assert.equal(Buffer.from(signer.publicKey).toString('base64url'), key.x);
    assert.equal(fs.statSync(fileIn(directory)).mode & 0o777, 0o600);
  });

  inDirectory('retires the old key on rotation and deletes its private half', async (directory) => {
    let time = START;
    const keyring = await openKeyring({ directory, now: () => time });
    const before = keyring.signer.keyId;
    time = LATER;
    await keyring.rotate();
    const { keyId } = keyring.signer;
    assert.notEqual(keyId, before);
    const at = LATER.toISOString();
    const retired = { kid: before, status: 'retired', not_after: at };
    assert.partialDeepStrictEqual(keyring.keys, [{ kid: keyId, status: 'current', not_before: at } as const, retired]);
    assert.equal(privateKeysIn(directory), 1);
    time = new Date('2026-03-01T00:00:00.000Z');
    await keyring.rotate();
    assert.equal(keyring.keys[2]?.not_after, at);
  });

  inDirectory('adopts a rotation of another process when it is reloaded', async (directory) => {
    const server = await open(directory);
    const { signer } = server;
    assert.equal(await server.reload(), false);
    const tool = await open(directory, LATER);
    await tool.rotate();
    assert.notEqual(signer.keyId, tool.signer.keyId);
    assert.deepEqual([await server.reload(), signer.keyId, server.keys], [true, tool.signer.keyId, tool.keys]);
  });

  inDirectory('makes one key when many start at once, and one each when many rotate', async (directory) => {
    const keyrings = await Promise.all([1, 2, 3].map(() => open(directory)));
    assert.equal(new Set(keyrings.map(({ signer }) => signer.keyId)).size, 1);
    await Promise.all(keyrings.map((keyring) => keyring.rotate()));
    assert.deepEqual([(await open(directory)).keys.length, privateKeysIn(directory)], [4, 1]);
  });

  inDirectory('refuses a file that other users may read or write', async (directory) => {
    const keyring = await open(directory);
    for (const mode of [0o640, 0o604, 0o620, 0o666]) {
      fs.chmodSync(fileIn(directory), mode);
      await assert.rejects(open(directory), KeyringError);
      await assert.rejects(keyring.reload(), KeyringError);
    }
  });

  inDirectory('refuses a damaged file and never replaces it', async (directory) => {
    await open(directory);
    const [key] = JSON.parse(fs.readFileSync(fileIn(directory), 'utf8')).keys;
    const other = Buffer.alloc(32, 5).toString('base64url');
    const changed = [{ d: undefined }, { d: other }, { d: 'AAAA' }, { x: 'AAAA' }];
    const lists = [{}, [], [null], [key, key], ...changed.map((change) => [{ ...key, ...change }])];
    for (const text of ['', '{', 'null', ...lists.map((keys) => JSON.stringify({ keys }))]) {
      fs.writeFileSync(fileIn(directory), text);
      await assert.rejects(open(directory), KeyringError, text);
      assert.equal(fs.readFileSync(fileIn(directory), 'utf8'), text);
    }
  });

  inDirectory('signs receipts only while verifiers accept them, whatever the clock says', async (directory) => {
    const origin = 'strata.example/ledger';
    let now = START;
    await using ledger = await logs.openSignedLedger({ directory, origin, keySetPath: '/keys.json', now: () => now });
    const isAccepted = async () => {
      const { body } = issueReceipt({ a: 1 }, { ...ledger.issuing(), now });
      const { steps } = await verifyAnswer(body, { keySet: ledger.keySet(), ledgerReceipt: undefined });
      return steps.some(({ step, ok }) => step === 'signature' && ok);
    };
    for (const offMs of [0, -KEY_OVERLAP_MS, 366 * 86_400_000]) {
      now = new Date(START.getTime() + offMs);
      assert.deepEqual([await isAccepted(), ledger.problem()], [true, undefined], `${offMs} ms`);
    }
    for (const offMs of [-KEY_OVERLAP_MS - 1, -86_400_000, Number.NaN]) {
      now = new Date(START.getTime() + offMs);
      assert.throws(() => ledger.issuing(), KeyringError, `${offMs} ms`);
      assert.match(ledger.problem() ?? '', /^cannot sign: the clock is before 2026-.+: set the clock right$/);
    }
    const retired = { not_before: START.toISOString(), not_after: START.toISOString() };
    assert.match(outsideSpan(retired, new Date(START.getTime() + KEY_OVERLAP_MS + 1)) ?? '', /the clock is after/);
  });
});
