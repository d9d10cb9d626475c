// The host's identity on disk: one Ed25519 key in libp2p's encoding, readable by its owner only.
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
 * Reads the key, or creates it. Rejects with KeyFileError when it is damaged or readable by other users. A new key is
 * written atomically, and two processes that start at the same time end up with the same one.
 */
export async function loadKey(file: string): Promise<Ed25519PrivateKey> {
  return (await readKey(file)) ?? (await makeKey(file));
}

/** Errors of a read-only directory, as used for mounted secrets. */
const UNWRITABLE = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOENT']);

/**
 * Holds `<key file>.lock` until disposed: two hosts with one key would displace each other from every connection.
 * Rejects with KeyFileError if another host holds it, in this or another process. In a read-only directory no lock file
 * can be created, and the key is not locked.
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
    `the key file ${keyFile} is in use by ${holderOf(file)}: stop that host, or set another directory with STRATA_DATA or another key with key-file=… of STRATA_P2P`,
  );
}

/** Rejects with KeyFileError if other users can read it. */
export async function readSecret(file: string): Promise<Uint8Array> {
  // Windows has no permission bits.
  if (process.platform !== 'win32' && ((await stat(file)).mode & 0o077) !== 0)
    throw new KeyFileError(`other users can access the key file ${file}: run "chmod 600 ${file}"`);
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
    // Reported below, like a key of another type.
  }
  throw new KeyFileError(
    `the key file ${file} contains no Ed25519 key: restore it from a backup, or delete it to start with a new peer id`,
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
    // A link never replaces a file: the second process reads the key of the first one.
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
