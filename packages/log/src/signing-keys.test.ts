import assert from 'node:assert/strict';
import { createPublicKey, verify } from 'node:crypto';
import { chmodSync, existsSync, lstatSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { jwkThumbprint } from '@strata/receipts';
import { replaceFile } from './durable-file.ts';
import { KeyringError, openKeyring } from './signing-keys.ts';
import { temporaryDirectory } from './test/fixture.ts';

const START = new Date('2026-01-01T00:00:00.000Z');
const LATER = new Date('2026-02-01T00:00:00.000Z');
const now = () => START;

/** Where keys land and how many private halves the file holds. */
const fileIn = (directory: string): string => path.join(directory, 'signing-keys.json');
const privateHalves = (directory: string): number => readFileSync(fileIn(directory), 'utf8').split('"d"').length - 1;

describe('a file that is replaced', () => {
  it('is not written through a link that stands where the new one is made', async () => {
    await using directory = await temporaryDirectory();
    const [file, secret] = [path.join(directory.path, 'keys'), path.join(directory.path, 'secret')];
    writeFileSync(secret, 'of somebody else');
    const waiting = `${file}.${process.pid}.new`;
    symlinkSync(secret, waiting);
    await replaceFile(file, Buffer.from('new'), { isSynced: false });
    assert.deepEqual([readFileSync(secret, 'utf8'), readFileSync(file, 'utf8')], ['of somebody else', 'new']);
    assert.deepEqual([lstatSync(file).isFile(), existsSync(waiting)], [true, false]);
  });
});

describe('the keyring', () => {
  it('makes a private key on first start and finds it again', async () => {
    await using directory = await temporaryDirectory();
    const first = await openKeyring({ directory: path.join(directory.path, 'new'), now });
    const again = await openKeyring({ directory: path.join(directory.path, 'new'), now: () => LATER });
    assert.deepEqual(again.keys, first.keys);
    assert.equal(again.signer.keyId, first.signer.keyId);
    const [key] = first.keys;
    assert.ok(key);
    assert.equal(key.kid, jwkThumbprint(key));
    assert.deepEqual([key.status, key.not_before, key.not_after], ['current', START.toISOString(), undefined]);
    const bytes = Buffer.from('bytes');
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: key.x }, format: 'jwk' });
    assert.ok(verify(null, bytes, publicKey, first.signer.sign(bytes)));
    assert.equal(Buffer.from(first.signer.publicKey).toString('base64url'), key.x);
    assert.equal(statSync(fileIn(path.join(directory.path, 'new'))).mode & 0o777, 0o600);
  });

  it('retires the old key on rotation and forgets its private half', async () => {
    await using directory = await temporaryDirectory();
    let time = START;
    const keyring = await openKeyring({ directory: directory.path, now: () => time });
    const before = keyring.signer.keyId;
    time = LATER;
    await keyring.rotate();
    assert.notEqual(keyring.signer.keyId, before);
    const [current, retired] = keyring.keys;
    const at = LATER.toISOString();
    assert.deepEqual([current?.kid, current?.status, current?.not_before], [keyring.signer.keyId, 'current', at]);
    assert.deepEqual([retired?.kid, retired?.status, retired?.not_after], [before, 'retired', at]);
    assert.equal(privateHalves(directory.path), 1);
    time = new Date('2026-03-01T00:00:00.000Z');
    await keyring.rotate();
    assert.equal(keyring.keys[2]?.not_after, at);
  });

  it('takes up a rotation made elsewhere when told to reload', async () => {
    await using directory = await temporaryDirectory();
    const server = await openKeyring({ directory: directory.path, now });
    const { signer } = server;
    assert.equal(await server.reload(), false);
    const tool = await openKeyring({ directory: directory.path, now: () => LATER });
    await tool.rotate();
    assert.notEqual(signer.keyId, tool.signer.keyId);
    assert.equal(await server.reload(), true);
    assert.equal(signer.keyId, tool.signer.keyId);
    assert.deepEqual(server.keys, tool.keys);
  });

  it('makes one key when many start at once, and one each when many rotate', async () => {
    await using directory = await temporaryDirectory();
    const open = () => openKeyring({ directory: directory.path, now });
    const keyrings = await Promise.all([open(), open(), open()]);
    assert.equal(new Set(keyrings.map(({ signer }) => signer.keyId)).size, 1);
    await Promise.all(keyrings.map((keyring) => keyring.rotate()));
    assert.equal((await open()).keys.length, 4);
    assert.equal(privateHalves(directory.path), 1);
  });

  it('refuses a file that others may read', async () => {
    await using directory = await temporaryDirectory();
    const keyring = await openKeyring({ directory: directory.path, now });
    for (const mode of [0o640, 0o604, 0o620, 0o666]) {
      chmodSync(fileIn(directory.path), mode);
      await assert.rejects(openKeyring({ directory: directory.path, now }), KeyringError);
      await assert.rejects(keyring.reload(), KeyringError);
    }
  });

  it('refuses a damaged file and never replaces it', async () => {
    await using directory = await temporaryDirectory();
    await openKeyring({ directory: directory.path, now });
    const good = readFileSync(fileIn(directory.path), 'utf8');
    const { keys } = JSON.parse(good) as { keys: [{ x: string; d: string; not_before: string }] };
    const [key] = keys;
    const other = Buffer.alloc(32, 5).toString('base64url');
    const changed = [{ d: undefined }, { d: other }, { d: 'AAAA' }, { x: 'AAAA' }];
    const lists = [{}, [], [null], [key, key], ...changed.map((change) => [{ ...key, ...change }])];
    for (const text of ['', '{', 'null', ...lists.map((keys) => JSON.stringify({ keys }))]) {
      writeFileSync(fileIn(directory.path), text);
      await assert.rejects(openKeyring({ directory: directory.path, now }), KeyringError, text);
      assert.equal(readFileSync(fileIn(directory.path), 'utf8'), text);
    }
  });
});
