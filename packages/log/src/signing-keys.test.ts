import assert from 'node:assert/strict';
import { createPublicKey, verify } from 'node:crypto';
import { chmodSync, existsSync, lstatSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe } from 'node:test';
import { jwkThumbprint } from '@strata/receipts';
import { replaceFile } from './durable-file.ts';
import { KeyringError, openKeyring } from './signing-keys.ts';
import { inDirectory } from './test/log-on-disk.ts';

const START = new Date('2026-01-01T00:00:00.000Z');
const LATER = new Date('2026-02-01T00:00:00.000Z');
const open = (directory: string, time = START) => openKeyring({ directory, now: () => time });

const fileIn = (directory: string): string => path.join(directory, 'signing-keys.json');
const privateKeysIn = (directory: string): number => readFileSync(fileIn(directory), 'utf8').split('"d"').length - 1;

describe('a file that is replaced', () => {
  inDirectory('is not written through a link at the path of the new one', async (directory) => {
    const [file, secret] = [path.join(directory, 'keys'), path.join(directory, 'secret')];
    writeFileSync(secret, 'of another user');
    const waiting = `${file}.${process.pid}.new`;
    symlinkSync(secret, waiting);
    await replaceFile(file, Buffer.from('new'), { isSynced: false });
    assert.deepEqual([readFileSync(secret, 'utf8'), readFileSync(file, 'utf8')], ['of another user', 'new']);
    assert.deepEqual([lstatSync(file).isFile(), existsSync(waiting)], [true, false]);
  });
});

describe('the keyring', () => {
  inDirectory('makes a private key on first start and finds it again', async (parent) => {
    const directory = path.join(parent, 'new');
    const { keys, signer } = await open(directory);
    const again = await open(directory, LATER);
    assert.deepEqual([again.keys, again.signer.keyId], [keys, signer.keyId]);
    const [key] = keys;
    assert.ok(key);
    assert.equal(key.kid, jwkThumbprint(key));
    assert.deepEqual([key.status, key.not_before, key.not_after], ['current', START.toISOString(), undefined]);
    const bytes = Buffer.from('bytes');
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: key.x }, format: 'jwk' });
    assert.ok(verify(null, bytes, publicKey, signer.sign(bytes)));
    assert.equal(Buffer.from(signer.publicKey).toString('base64url'), key.x);
    assert.equal(statSync(fileIn(directory)).mode & 0o777, 0o600);
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
    assert.partialDeepStrictEqual(keyring.keys, [
      { kid: keyId, status: 'current', not_before: at },
      { kid: before, status: 'retired', not_after: at },
    ]);
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
    assert.equal(await server.reload(), true);
    assert.deepEqual([signer.keyId, server.keys], [tool.signer.keyId, tool.keys]);
  });

  inDirectory('makes one key when many start at once, and one each when many rotate', async (directory) => {
    const keyrings = await Promise.all([1, 2, 3].map(() => open(directory)));
    assert.equal(new Set(keyrings.map(({ signer }) => signer.keyId)).size, 1);
    await Promise.all(keyrings.map((keyring) => keyring.rotate()));
    assert.equal((await open(directory)).keys.length, 4);
    assert.equal(privateKeysIn(directory), 1);
  });

  inDirectory('refuses a file that other users may read or write', async (directory) => {
    const keyring = await open(directory);
    for (const mode of [0o640, 0o604, 0o620, 0o666]) {
      chmodSync(fileIn(directory), mode);
      await assert.rejects(open(directory), KeyringError);
      await assert.rejects(keyring.reload(), KeyringError);
    }
  });

  inDirectory('refuses a damaged file and never replaces it', async (directory) => {
    await open(directory);
    const { keys } = JSON.parse(readFileSync(fileIn(directory), 'utf8'));
    const [key] = keys;
    const other = Buffer.alloc(32, 5).toString('base64url');
    const changed = [{ d: undefined }, { d: other }, { d: 'AAAA' }, { x: 'AAAA' }];
    const lists = [{}, [], [null], [key, key], ...changed.map((change) => [{ ...key, ...change }])];
    for (const text of ['', '{', 'null', ...lists.map((keys) => JSON.stringify({ keys }))]) {
      writeFileSync(fileIn(directory), text);
      await assert.rejects(open(directory), KeyringError, text);
      assert.equal(readFileSync(fileIn(directory), 'utf8'), text);
    }
  });
});
