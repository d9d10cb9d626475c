// The signature of a backup: a signed note (c2sp.org/signed-note) over the digest of the manifest, by the key that signs the ledger's
// checkpoints. The manifest has the digest of every other file, so that without this key nothing can be added or altered unnoticed.
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import {
  ledgerKeysTold,
  type PublicKeys,
  publicKeyBytes,
  readKeysFile,
  readPublicKeys,
  signAsLedger,
} from '@strata/log';
import {
  decodeBase64Url,
  encodeHex,
  equalBytes,
  formatVerifierKey,
  KEY_OVERLAP_MS,
  type NoteVerifier,
  noteVerifier,
  openNote,
  parseVerifierKey,
  sha256,
} from '@strata/receipts';
import { CommandError } from '../output.ts';

export const SIGNATURE_FILE = 'manifest.note';

/** No checkpoint begins so: its first line is the origin. */
const FIRST_LINE = 'backup of ';
const ORIGIN = /^[a-z0-9./-]{1,500}$/;
const MAX_BYTES = 65_536;

/** Which signers of a backup are accepted. */
export interface Trust {
  /** Keys that this machine or the operator's key file has; ignored where `ledgerKey` is given. */
  readonly keys: PublicKeys['ledger'];
  readonly ledgerKey: NoteVerifier | undefined;
  /** Accepts a backup that no such key has signed. */
  readonly isUnverifiedAllowed: boolean;
}

export interface TrustOptions {
  /** Private keys that `backup --keys` wrote. */
  readonly keysFile?: string | undefined;
  /** C2SP verifier key. */
  readonly ledgerKey?: string | undefined;
  readonly unverified?: boolean | undefined;
}

/** Rejects with CommandError (exit code 2) or KeyringError. */
export async function trustOf(directory: string, { keysFile, ledgerKey, unverified }: TrustOptions): Promise<Trust> {
  const parsed = ledgerKey === undefined ? undefined : parseVerifierKey(ledgerKey);
  if (ledgerKey !== undefined && !parsed)
    throw new CommandError('--ledger-key is not a verifier key of a ledger (C2SP: name+id+key)', { exitCode: 2 });
  const given = keysFile === undefined ? [] : (await readKeysFile(keysFile)).ledger;
  const here = (await readPublicKeys(directory)).ledger;
  return { keys: [...given, ...here], ledgerKey: parsed, isUnverifiedAllowed: unverified ?? false };
}

/** The note that stands beside a manifest. Throws KeyringError where the data directory has no ledger key. */
export const signManifest = (directory: string, origin: string, manifest: Uint8Array): Promise<string> =>
  signAsLedger(directory, origin, `${FIRST_LINE}${origin}\n${encodeHex(sha256(manifest))}\n`);

export interface ManifestToVerify {
  readonly bytes: Uint8Array;
  readonly madeAt: string;
  /** Of the set, unverified: what they vouch for is itself signed. */
  readonly publicKeys: PublicKeys;
}

/**
 * The verifier key of the accepted signer; undefined where a backup without one is allowed. Throws CommandError for an unsigned or altered
 * manifest, and for one that no accepted key has signed in its time.
 */
export async function verifyManifest(
  folder: string,
  manifest: ManifestToVerify,
  trust: Trust,
): Promise<string | undefined> {
  if (trust.isUnverifiedAllowed) return undefined;
  const note = await readNote(path.join(folder, SIGNATURE_FILE));
  const [first = '', digest] = note.split('\n');
  const origin = first.startsWith(FIRST_LINE) ? first.slice(FIRST_LINE.length) : '';
  const altered = 'the backup was altered: its manifest is not the one that was signed';
  if (!ORIGIN.test(origin) || digest !== encodeHex(sha256(manifest.bytes))) throw new CommandError(altered);

  const known = await acceptedKeys(origin, manifest, trust);
  const opened = await openNote(
    note,
    known.map(({ verifier }) => verifier),
  );
  if (!opened.ok) {
    const own = publicKeyBytes(manifest.publicKeys.ledger).map((key) => noteVerifier(origin, key));
    const byOwn = await openNote(note, own);
    if (!byOwn.ok) throw new CommandError(`${altered} (${byOwn.problem})`);
    throw unknownSigner(byOwn.signedBy);
  }
  const { signedBy } = opened;
  const retiredAt = known.find(({ verifier }) => equalBytes(verifier.publicKey, signedBy.publicKey))?.retiredAt;
  if (retiredAt !== undefined && !(Date.parse(manifest.madeAt) <= Date.parse(retiredAt) + KEY_OVERLAP_MS))
    throw new CommandError(
      `the backup says that it was made on ${manifest.madeAt}, and the key that signed it was retired on ${retiredAt}; --unverified accepts it`,
    );
  return formatVerifierKey(signedBy);
}

async function acceptedKeys(origin: string, { publicKeys }: ManifestToVerify, { keys, ledgerKey }: Trust) {
  if (ledgerKey) return [{ verifier: ledgerKey, retiredAt: undefined }];
  const texts = { origin, told: new Map(Object.entries(publicKeys.published ?? {})) };
  return (await ledgerKeysTold(keys, texts)).flatMap(({ x, not_after: retiredAt }) => {
    const publicKey = decodeBase64Url(x);
    return publicKey ? [{ verifier: noteVerifier(origin, publicKey), retiredAt }] : [];
  });
}

async function readNote(file: string): Promise<string> {
  const size = await stat(file).then(
    (stats) => stats.size,
    () => undefined,
  );
  if (size === undefined)
    throw new CommandError(
      'the backup is not signed: an earlier version made it, or its signature was removed. Who can write to it can have added API keys to its store, or anything else; --unverified accepts it',
    );
  if (size > MAX_BYTES) throw new CommandError(`${file} is too large for a signature`);
  return readFile(file, 'utf8');
}

const unknownSigner = (signer: NoteVerifier) =>
  new CommandError(
    `the backup is signed by ${formatVerifierKey(signer)}, a key that is not known here. Where it is the one of your ledger ` +
      `(verifier_keys of /.well-known/stack-keys.json, as you know it from elsewhere), give it by --ledger-key; restore --keys FILE knows it too. ` +
      'Otherwise anyone with write access to the backup may have replaced it; --unverified accepts it',
  );
