import assert from 'node:assert/strict';
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { generateKeyPair, privateKeyToProtobuf } from '@libp2p/crypto/keys';
import { useDirectory } from '../test/hosts.ts';
import { KeyFileError, loadKey, lockKey } from './key-file.ts';

describe('key file', () => {
  const directory = useDirectory();
  it('is created if missing, readable by its owner only, and read again', async () => {
    const file = path.join(directory.path, 'deep', 'a.key');
    const made = await loadKey(file);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.deepEqual((await loadKey(file)).raw, made.raw);
    assert.deepEqual(await readdir(path.dirname(file)), ['a.key']);
  });
  it('is one key for all who start at once', async () => {
    const file = path.join(directory.path, 'b.key');
    const keys = await Promise.all(Array.from({ length: 8 }, () => loadKey(file)));
    assert.equal(new Set(keys.map(({ publicKey }) => publicKey.toString())).size, 1);
  });
  it('is refused when other users can read it, with the command that fixes it', async () => {
    const file = path.join(directory.path, 'c.key');
    await loadKey(file);
    await chmod(file, 0o640);
    await assert.rejects(loadKey(file), (error) => error instanceof KeyFileError && /chmod 600/.test(error.message));
  });
  it('is refused when it is damaged, empty or of another kind, and left as it is', async () => {
    const file = path.join(directory.path, 'd.key');
    const ofAnotherKind = privateKeyToProtobuf(await generateKeyPair('secp256k1'));
    for (const bytes of [new Uint8Array(), Buffer.from('-----BEGIN'), ofAnotherKind, ofAnotherKind.subarray(0, 9)]) {
      await writeFile(file, bytes, { mode: 0o600 });
      await assert.rejects(loadKey(file), KeyFileError);
      assert.deepEqual(new Uint8Array(await readFile(file)), new Uint8Array(bytes));
    }
  });
  it('has a lock, which has one holder, the first of many, and is free after it', async () => {
    const file = path.join(directory.path, 'deep', 'peer.key');
    const locks = Array.from({ length: 8 }, () => lockKey(file).catch((error: unknown) => error));
    const held = (await Promise.all(locks)).filter((lock) => !(lock instanceof KeyFileError)) as Disposable[];
    assert.equal(held.length, 1);
    held[0]?.[Symbol.dispose]();
    (await lockKey(file))[Symbol.dispose]();
  });
  it('has no lock in a read-only directory, and an error if another file has its path', async () => {
    if (process.platform === 'linux') (await lockKey('/proc/peer.key'))[Symbol.dispose]();
    const file = path.join(directory.path, 'peer.key');
    await writeFile(`${file}.lock`, 'x'.repeat(4_096));
    await assert.rejects(lockKey(file), KeyFileError);
  });
});
