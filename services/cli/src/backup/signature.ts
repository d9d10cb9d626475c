// The signature of a backup: a signed note (c2sp.org/signed-note) over the digest of the manifest, by the key that signs checkpoints of
// the ledger. The manifest has the digests of all other files, so the signature covers the complete backup.
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { type PublicKeys, publishedLedgerKeys, readKeysFile, readPublicKeys, signAsLedger } from '@strata/log';
import {
  decodeBase64Url,
  encodeHex,
  equalBytes,
  formatVerifierKey,
  KEY_OVERLAP_MS,
  type NoteVerifier,
  noteVerifier,
  openNote,
  sha256,
} from '@strata/receipts';
import { CommandError } from '../errors.ts';
import { verifierKey } from '../option-parsers.ts';
import { openOwnNote } from './ledger-source.ts';

export const SIGNATURE_FILE = 'manifest.note';

/** Distinguishes the note from a checkpoint, whose first line is the origin. */
const FIRST_LINE = 'backup of ';
const ORIGIN = /^[a-z0-9./-]{1,500}$/;
const MAX_BYTES = 65_536;

/** The accepted signers of a backup. */
export interface Trust {
  /** Keys of the data directory and of the operator's keys file; ignored where `ledgerKey` is given. */
  readonly keys: PublicKeys['ledger'];
  readonly ledgerKey: NoteVerifier | undefined;
  /** Accepts a backup that is not signed by such a key. */
  readonly isUnverifiedAllowed: boolean;
}

export interface TrustOptions {
  /** Private keys that `backup --keys` has written. */
  readonly keysFile?: string | undefined;
  /** C2SP verifier key. */
  readonly ledgerKey?: string | undefined;
  readonly unverified?: boolean | undefined;
}

/** Rejects with CommandError (exit code 2) or KeyringError. */
export async function trustOf(directory: string, { keysFile, ledgerKey, unverified }: TrustOptions): Promise<Trust> {
  const parsed = ledgerKey === undefined ? undefined : verifierKey(ledgerKey);
  const given = keysFile === undefined ? [] : (await readKeysFile(keysFile)).ledger;
  const here = (await readPublicKeys(directory)).ledger;
  return { keys: [...given, ...here], ledgerKey: parsed, isUnverifiedAllowed: unverified ?? false };
}

/** The note for a manifest. Rejects with KeyringError where the data directory has no ledger key. */
export const signManifest = (directory: string, origin: string, manifest: Uint8Array): Promise<string> =>
  signAsLedger(directory, origin, `${FIRST_LINE}${origin}\n${encodeHex(sha256(manifest))}\n`);

export interface ManifestToVerify {
  readonly bytes: Uint8Array;
  readonly madeAt: string;
  /** The unverified keys of the backup; keys that they vouch for have signatures of their own. */
  readonly publicKeys: PublicKeys;
}

/**
 * The verifier key of the accepted signer; undefined where any backup is accepted. Throws CommandError for an unsigned or altered manifest,
 * and for one that was not signed by an accepted key while the key was valid.
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
  const altered = 'the backup was altered: its manifest does not match the signature';
  if (!ORIGIN.test(origin) || digest !== encodeHex(sha256(manifest.bytes))) throw new CommandError(altered);

  const known = await acceptedKeys(origin, manifest, trust);
  const opened = await openNote(
    note,
    known.map(({ verifier }) => verifier),
  );
  if (!opened.ok) {
    const byOwn = await openOwnNote(note, origin, manifest.publicKeys.ledger);
    if (!byOwn.ok) throw new CommandError(`${altered} (${byOwn.problem})`);
    throw unknownSigner(byOwn.signedBy);
  }
  const { signedBy } = opened;
  const retiredAt = known.find(({ verifier }) => equalBytes(verifier.publicKey, signedBy.publicKey))?.retiredAt;
  if (retiredAt !== undefined && !(Date.parse(manifest.madeAt) <= Date.parse(retiredAt) + KEY_OVERLAP_MS))
    throw new CommandError(
      `the backup is dated ${manifest.madeAt}, but the key that signed it was retired on ${retiredAt}; --unverified accepts it`,
    );
  return formatVerifierKey(signedBy);
}

async function acceptedKeys(origin: string, { publicKeys }: ManifestToVerify, { keys, ledgerKey }: Trust) {
  if (ledgerKey) return [{ verifier: ledgerKey, retiredAt: undefined }];
  const texts = { origin, texts: new Map(Object.entries(publicKeys.published ?? {})) };
  return (await publishedLedgerKeys(keys, texts)).flatMap(({ x, not_after: retiredAt }) => {
    const publicKey = decodeBase64Url(x);
    return publicKey ? [{ verifier: noteVerifier(origin, publicKey), retiredAt }] : [];
  });
}

async function readNote(file: string): Promise<string> {
  const stats = await stat(file).catch(() => undefined);
  if (!stats)
    throw new CommandError(
      'the backup is not signed: it is of an earlier version, or its signature was removed. A user with write access could have altered it, for example by adding API keys; --unverified accepts it',
    );
  if (stats.size > MAX_BYTES) throw new CommandError(`${file} is too large for a signature`);
  return readFile(file, 'utf8');
}

const unknownSigner = (signer: NoteVerifier) =>
  new CommandError(
    `the backup is signed by an unknown key, ${formatVerifierKey(signer)}. If it is the key of your ledger ` +
      `(verifier_keys of /.well-known/stack-keys.json, from a trusted source), pass it with --ledger-key, or use restore --keys FILE. ` +
      'Otherwise a user with write access may have replaced the backup; --unverified accepts it',
  );
