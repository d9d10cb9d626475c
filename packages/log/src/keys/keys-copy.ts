// Signing keys in backups: public keys always, which verify old receipts and reveal nothing; private keys only on request.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { readIfPresent } from '@strata/files';
import { signNote } from '@strata/receipts';
import { noteSigner } from '../log.ts';
import { KEYRINGS, type KeyringName, keysIn, openKeyrings } from './keyrings.ts';
import {
  hasKeyring,
  KEYS_FILE,
  KeyringError,
  keyringFrom,
  openKeyring,
  type StoredKey,
  saveKeys,
} from './signing-keys.ts';

/** The current key is first. */
export type PublicKeys = Readonly<Record<KeyringName, readonly Omit<StoredKey, 'd'>[]>> & {
  /** For a ledger in a database: the published receipt keys of its nodes by key id, each signed by the ledger's key. */
  readonly published?: Readonly<Record<string, string>>;
};
type PrivateKeys = Readonly<Record<KeyringName, readonly StoredKey[]>>;

/** The public keys of a service; empty if it was never started. Throws KeyringError. */
export async function readPublicKeys(directory: string): Promise<PublicKeys> {
  const keys = await readKeys(directory);
  const withoutPrivate = (name: KeyringName) => keys[name].map(({ d: _private, ...key }) => key);
  return { receipts: withoutPrivate('receipts'), ledger: withoutPrivate('ledger') };
}

/** Creates missing keys of a data directory, as the first start of a service does. Throws KeyringError. */
export async function makeKeys(directory: string): Promise<void> {
  await openKeyrings(directory, () => new Date());
}

/** Signs a note with the current ledger key of a data directory. Throws KeyringError without one. */
export async function signAsLedger(directory: string, origin: string, text: string): Promise<string> {
  const folder = keysIn(directory, 'ledger');
  if (!hasKeyring(folder)) throw new KeyringError(`${folder} has no signing key`);
  const { signer } = await openKeyring({ directory: folder, now: () => new Date() });
  return signNote(text, [noteSigner(origin, signer)]);
}

/** Writes both keyrings, including private keys, to a new file that only its owner can read. Rejects if the file exists. */
export async function writeKeysFile(directory: string, file: string): Promise<void> {
  const keys = await readKeys(directory);
  await writeFile(file, `${JSON.stringify({ version: 1, ...keys }, null, 2)}\n`, {
    mode: 0o600,
    flag: 'wx',
    flush: true,
  });
}

/** Reads a file of `writeKeysFile`. Throws KeyringError. */
export async function readKeysFile(file: string): Promise<PrivateKeys> {
  const parsed = parse(await readFile(file, 'utf8'), file) as Partial<Record<KeyringName, unknown>>;
  const ring = (name: KeyringName) => keyringFrom(parsed[name], file).stored;
  return { receipts: ring('receipts'), ledger: ring('ledger') };
}

/** Parses public keys in the JSON form of `readPublicKeys`. Throws KeyringError. */
export function publicKeysFrom(text: string, file: string): PublicKeys {
  const parsed = parse(text, file) as Partial<Record<KeyringName, unknown>>;
  for (const name of KEYRINGS) if (!Array.isArray(parsed[name])) throw new KeyringError(`${file} lacks ${name}`);
  const { published = {} } = parsed as { readonly published?: unknown };
  if (
    published === null ||
    typeof published !== 'object' ||
    !Object.values(published).every((key) => typeof key === 'string')
  )
    throw new KeyringError(`${file} has invalid published keys`);
  return parsed as PublicKeys;
}

/**
 * Restores the keys of a backup in a data directory, each keyring atomically. The current key is that of `given`, else the existing
 * one, else a new one; all other known keys are kept as retired, so that old receipts still verify. Returns the keyrings that got a
 * new key. Throws KeyringError, and leaves that keyring unchanged, if the current key is retired in the backup.
 */
export async function restoreKeys(
  directory: string,
  { published, given, now }: { readonly published: PublicKeys; readonly given?: PrivateKeys; readonly now: Date },
): Promise<readonly KeyringName[]> {
  const existing = await readKeys(directory);
  const made: KeyringName[] = [];
  for (const name of KEYRINGS) {
    const known = new Map<string, StoredKey>();
    for (const key of [...(given?.[name] ?? []), ...existing[name], ...published[name]])
      if (!known.has(key.x)) known.set(key.x, key);
    const current = [...(given?.[name] ?? []), ...existing[name]].find(({ d }) => d !== undefined);
    const retiredAt = published[name].find(({ x }) => x === current?.x)?.not_after;
    if (retiredAt !== undefined)
      throw new KeyringError(
        `the private key of ${name} was retired on ${retiredAt}, before the backup was made: give the keys of a node that had the newest ones, or give none and move the existing keys folder away, so that new keys are created`,
      );
    if (current) known.delete(current.x);
    else if (known.size > 0) made.push(name);
    // A keyring without keys is created by the first start.
    if (!current && known.size === 0) continue;
    await saveKeys(keysIn(directory, name), { current, retired: [...known.values()], now });
  }
  return made;
}

async function readKeys(directory: string): Promise<PrivateKeys> {
  const ring = async (name: KeyringName) => {
    const file = path.join(keysIn(directory, name), KEYS_FILE);
    const bytes = await readIfPresent(file);
    if (!bytes) return [];
    return keyringFrom((parse(new TextDecoder().decode(bytes), file) as { keys?: unknown }).keys, file).stored;
  };
  return { receipts: await ring('receipts'), ledger: await ring('ledger') };
}

function parse(text: string, file: string): object {
  try {
    return JSON.parse(text) as object;
  } catch (cause) {
    throw new KeyringError(`${file} is not JSON`, { cause });
  }
}
