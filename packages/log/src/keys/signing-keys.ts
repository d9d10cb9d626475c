// Ed25519 keys on disk: one current private key, and the public keys of all earlier ones.
import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { waitForLock } from '@strata/db';
import { deniedText, makeDirectory, readIfPresent, removeLeftOvers, replaceFile, syncDirectory } from '@strata/files';
import {
  decodeBase64Url,
  KEY_OVERLAP_MS,
  keyNoteHeader,
  keyNoteText,
  PUBLIC_KEY_BYTES,
  type PublicKeyEntry,
  publicKeyEntry,
  type Signer,
  signNote,
} from '@strata/receipts';
import { lockedError, logErrorFrom } from '../log-error.ts';

/** The key file is unusable; `message` says why and what to do. */
export class KeyringError extends Error {
  override readonly name = 'KeyringError';
  /** Of a program that ends with this error. */
  readonly exitCode = 1;
}

export interface KeyringOptions {
  readonly directory: string;
  readonly now: () => Date;
  /** If it rejects, no first key is created. */
  readonly beforeCreating?: (() => Promise<void>) | undefined;
}

/** A signer whose key changes when its keyring rotates or reloads, but not within a synchronous section. */
export interface KeyringSigner extends Signer {
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** For another thread of this process that signs. */
  readonly privateKey: KeyObject;
}

export interface Keyring {
  readonly signer: KeyringSigner;
  /** The current key first, then retired ones, newest first. */
  readonly keys: readonly PublicKeyEntry[];
  /** Notes in which the previous ledger key vouches for a key, by key id. */
  readonly rotations: ReadonlyMap<string, string>;
  /** Creates a current key after `announce` resolves, and retires the old one, whose private key is deleted. */
  rotate(options?: RotateOptions): Promise<void>;
  /** Loads a rotation of another process after `announce` resolves; returns whether the current key changed. */
  reload(announce?: (keys: readonly PublicKeyEntry[]) => Promise<void>): Promise<boolean>;
}

export interface RotateOptions {
  /** Origin of the ledger of these keys: the old key vouches for the new one under this name. */
  readonly origin?: string;
  readonly announce?: (keys: readonly PublicKeyEntry[]) => Promise<void>;
}

/** A key in the file; only the current one has its private key `d`. */
export interface StoredKey {
  readonly x: string;
  readonly d?: string;
  readonly not_before: string;
  readonly not_after?: string;
  /** For a ledger: the signed note in which the previous key vouches for this one. */
  readonly rotation?: string;
}

export interface LoadedKeys {
  readonly stored: readonly StoredKey[];
  readonly entries: readonly PublicKeyEntry[];
  readonly rotations: ReadonlyMap<string, string>;
  readonly current: { readonly keyId: string; readonly publicKey: Uint8Array; readonly privateKey: KeyObject };
}

/** Whether the directory has a key file. */
export const hasKeyring = (directory: string): boolean => existsSync(path.join(directory, KEYS_FILE));

export const KEYS_FILE = 'signing-keys.json';
const PRIVATE_MODE = 0o600;
const CHANGE_WAIT_MS = 2_000;

/**
 * Opens the keys of a directory, creating the first one on first start. Throws KeyringError if the file is damaged or readable by
 * other users.
 *
 * Crash safety: all keys are in one file that is replaced atomically, so there is always exactly one current key. Concurrent starts
 * and rotations are serialized by a lock.
 */
export async function openKeyring({ directory, now, beforeCreating }: KeyringOptions): Promise<Keyring> {
  const file = path.join(directory, KEYS_FILE);
  const create = async () => {
    await beforeCreating?.();
    await makeDirectory(directory);
    return change(directory, async () => (await load(file)) ?? addKey(file, undefined, now()));
  };
  let loaded = (await load(file)) ?? (await create());
  return {
    signer: {
      get keyId() {
        return loaded.current.keyId;
      },
      get publicKey() {
        return loaded.current.publicKey;
      },
      get privateKey() {
        return loaded.current.privateKey;
      },
      sign: (bytes) => sign(null, bytes, loaded.current.privateKey),
    },
    get keys() {
      return loaded.entries;
    },
    get rotations() {
      return loaded.rotations;
    },
    async rotate(options) {
      loaded = await change(directory, async () => addKey(file, await load(file), now(), options));
    },
    async reload(announce) {
      const before = loaded.current.keyId;
      const fresh = await load(file);
      if (!fresh)
        throw new KeyringError(`${file} is missing; restore it: a new key would make old receipts unverifiable`);
      if (fresh.current.keyId !== before) await announce?.(fresh.entries);
      loaded = fresh;
      return fresh.current.keyId !== before;
    },
  };
}

/** Why verifiers would reject a receipt that a key signs now, as a sentence without a path; undefined if they would accept it. */
export function outsideSpan(key: Span, now: Date): string | undefined {
  const { not_before, not_after } = key;
  const { fromMs, toMs } = spanOf(key);
  // Written so that an invalid time is outside of the span.
  if (!(now.getTime() >= fromMs))
    return `the clock is before ${not_before}, when the signing key was made: set the clock right`;
  if (not_after !== undefined && !(now.getTime() <= toMs))
    return `the clock is after ${not_after}, when the signing key was retired: set the clock right, or rotate the keys`;
  return undefined;
}

type Span = Pick<PublicKeyEntry, 'not_before' | 'not_after'>;
/** Parsed once: every answer asks for it. */
const spans = new WeakMap<Span, { readonly fromMs: number; readonly toMs: number }>();

function spanOf(key: Span) {
  const { not_before, not_after = '' } = key;
  const span = spans.get(key) ?? {
    fromMs: Date.parse(not_before) - KEY_OVERLAP_MS,
    toMs: Date.parse(not_after) + KEY_OVERLAP_MS,
  };
  spans.set(key, span);
  return span;
}

/** Serializes changes of the file among all processes. Rejects with LogError `locked` after `CHANGE_WAIT_MS`. */
async function change<Value>(directory: string, work: () => Promise<Value>): Promise<Value> {
  const lockFile = path.join(directory, 'signing-keys.lock');
  using lock = await waitForLock(lockFile, { waitMs: CHANGE_WAIT_MS }).catch((cause: unknown) => {
    throw logErrorFrom(cause, `acquire the lock ${lockFile}`);
  });
  if (!lock) throw lockedError(lockFile);
  return await work();
}

async function addKey(
  file: string,
  before: LoadedKeys | undefined,
  now: Date,
  { origin, announce }: RotateOptions = {},
): Promise<LoadedKeys> {
  const made = newKey(now);
  const rotation = before && origin !== undefined ? { rotation: rotationNote(before.current, made, origin) } : {};
  const keys = [{ ...made, ...rotation }, ...retiredAt(before?.stored ?? [], now)];
  await announce?.(loadedFrom(keys, file).entries);
  return writeKeys(file, keys);
}

function rotationNote({ publicKey, privateKey }: LoadedKeys['current'], key: StoredKey, origin: string): string {
  const signer = { name: origin, publicKey, sign: (bytes: Uint8Array) => sign(null, bytes, privateKey) };
  return signNote(keyNoteText(keyNoteHeader('ledger', origin), key), [signer]);
}

function newKey(now: Date): StoredKey {
  const { x = '', d = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  return { x, d, not_before: now.toISOString() };
}

/** Removes the private keys. */
function retiredAt(stored: readonly StoredKey[], now: Date): StoredKey[] {
  return stored.map(({ d: _private, ...key }) => ({ ...key, not_after: key.not_after ?? now.toISOString() }));
}

async function writeKeys(file: string, keys: readonly StoredKey[]): Promise<LoadedKeys> {
  const text = `${JSON.stringify({ version: 1, keys }, null, 2)}\n`;
  await replaceFile(file, text, { mode: PRIVATE_MODE, sync: 'content' });
  await removeLeftOvers(file);
  await syncDirectory(path.dirname(file));
  return loadedFrom(keys, file);
}

/** Writes a restored keyring: with this current key or a new one, and all other keys retired. */
export async function saveKeys(
  directory: string,
  ring: { readonly current: StoredKey | undefined; readonly retired: readonly StoredKey[]; readonly now: Date },
): Promise<void> {
  await makeDirectory(directory);
  const keys = [ring.current ?? newKey(ring.now), ...retiredAt(ring.retired, ring.now)];
  await change(directory, () => writeKeys(path.join(directory, KEYS_FILE), keys));
}

async function load(file: string): Promise<LoadedKeys | undefined> {
  const bytes = await readIfPresent(file).catch((cause: unknown) => {
    const denied = deniedText(file, cause);
    throw denied === undefined ? cause : new KeyringError(denied, { cause });
  });
  if (!bytes) return undefined;
  if (process.platform !== 'win32' && ((await stat(file)).mode & 0o077) !== 0) {
    throw new KeyringError(
      `${file} is readable by other users: make it private with chmod 600, and consider rotating the key`,
    );
  }
  let keys: unknown;
  try {
    keys = (JSON.parse(new TextDecoder().decode(bytes)) as { keys?: unknown }).keys;
  } catch (cause) {
    throw new KeyringError(`${file} is not JSON`, { cause });
  }
  return keyringFrom(keys, file);
}

/** Throws KeyringError unless it is a list of keys with one private key, in its first entry. */
export function keyringFrom(keys: unknown, file: string): LoadedKeys {
  if (!Array.isArray(keys) || !keys.every(isStoredKey)) throw new KeyringError(`${file} does not hold a list of keys`);
  return loadedFrom(keys, file);
}

function loadedFrom(stored: readonly StoredKey[], file: string): LoadedKeys {
  const [first, ...retired] = stored;
  const publicKey = decodeBase64Url(first?.x ?? '');
  if (!first?.d || publicKey?.length !== PUBLIC_KEY_BYTES || retired.some(({ d }) => d !== undefined)) {
    throw new KeyringError(`${file} must have one private key, in its first entry`);
  }
  let privateKey: KeyObject;
  try {
    privateKey = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', x: first.x, d: first.d }, format: 'jwk' });
  } catch (cause) {
    throw new KeyringError(`${file}: the private key is unusable`, { cause });
  }
  // A public key that does not belong to the private key would make receipts unverifiable.
  if (privateKey.export({ format: 'jwk' }).x !== first.x)
    throw new KeyringError(`${file}: the public and the private key do not match`);
  const entries = stored.map(({ x, not_before, not_after }, at) =>
    publicKeyEntry(decodeBase64Url(x) ?? new Uint8Array(), {
      status: at === 0 ? 'current' : 'retired',
      not_before,
      ...(not_after !== undefined && { not_after }),
    }),
  );
  const rotations = new Map(
    stored.flatMap(({ rotation }, at) => (rotation === undefined ? [] : [[entries[at]?.kid ?? '', rotation]])),
  );
  return { stored, entries, rotations, current: { keyId: entries[0]?.kid ?? '', publicKey, privateKey } };
}

function isStoredKey(value: unknown): value is StoredKey {
  if (typeof value !== 'object' || value === null) return false;
  const { x, d, not_before, not_after, rotation } = value as Partial<Record<keyof StoredKey, unknown>>;
  const isText = (field: unknown): boolean => field === undefined || typeof field === 'string';
  return typeof x === 'string' && typeof not_before === 'string' && [d, not_after, rotation].every(isText);
}
