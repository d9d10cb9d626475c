// The host's identity on disk: one Ed25519 key, in libp2p's own encoding, for its owner's eyes alone.
import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { generateKeyPair, privateKeyFromProtobuf, privateKeyToProtobuf } from '@libp2p/crypto/keys';
import type { Ed25519PrivateKey } from '@libp2p/interface';
import { holderOf, lockFile } from '@strata/db';

export class KeyFileError extends Error {
  override readonly name = 'KeyFileError';
}

/**
 * Reads the key, or makes it where there is none. Rejects with KeyFileError when it is damaged or others may read it.
 * A new key appears whole or not at all, and two processes that start at once end up with the same one.
 */
export async function loadKey(file: string): Promise<Ed25519PrivateKey> {
  return (await readKey(file)) ?? (await makeKey(file));
}

/** Of a directory that is read-only, as secrets are mounted. */
const UNWRITABLE = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOENT']);

/**
 * Holds `<key file>.lock` until it is disposed of: two hosts with one key would push each other out of every connection. Rejects with
 * KeyFileError where another host holds it, here or in another process. Beside a key in a directory that may not be written there
 * can be no lock, and none is held.
 */
export async function lockKey(keyFile: string): Promise<Disposable> {
  const file = `${keyFile}.lock`;
  let lock: Disposable | undefined;
  try {
    await mkdir(path.dirname(keyFile), { recursive: true });
    lock = lockFile(file);
  } catch (cause) {
    if (UNWRITABLE.has((cause as NodeJS.ErrnoException).code ?? '')) return { [Symbol.dispose]: () => {} };
    throw new KeyFileError(`the key file ${keyFile} cannot be locked`, { cause });
  }
  if (lock) return lock;
  throw new KeyFileError(
    `the key file ${keyFile} is in use by ${holderOf(file)}: stop it, or give this one a directory of its own with STRATA_DATA, or a key with STRATA_P2P_KEY_FILE`,
  );
}

/** Rejects with KeyFileError where others may read it. */
export async function readSecret(file: string): Promise<Uint8Array> {
  // Windows has no such bits.
  if (process.platform !== 'win32' && ((await stat(file)).mode & 0o077) !== 0)
    throw new KeyFileError(`others may use the key file ${file}: run "chmod 600 ${file}"`);
  return readFile(file);
}

async function readKey(file: string): Promise<Ed25519PrivateKey | undefined> {
  let bytes: Uint8Array;
  try {
    bytes = await readSecret(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const key = privateKeyFromProtobuf(bytes);
    if (key.type === 'Ed25519') return key;
  } catch {
    // Said below, as of a key of another kind.
  }
  throw new KeyFileError(
    `the key file ${file} holds no Ed25519 key: restore it from a copy, or delete it to begin anew under another peer id`,
  );
}

async function makeKey(file: string): Promise<Ed25519PrivateKey> {
  const key = await generateKeyPair('Ed25519');
  await mkdir(path.dirname(file), { recursive: true });
  const draft = `${file}.${randomUUID()}`;
  try {
    const handle = await open(draft, 'wx', 0o600);
    try {
      await handle.writeFile(privateKeyToProtobuf(key));
      await handle.sync();
    } finally {
      await handle.close();
    }
    // A link never replaces: who comes second reads the key of who came first.
    await link(draft, file);
    return key;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const other = await readKey(file);
    if (!other) throw error;
    return other;
  } finally {
    await unlink(draft).catch(() => {});
  }
}
