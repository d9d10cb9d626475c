// Verifies a backup without restoring it: the signature of the manifest, the digest of every file, the rows of the store, the root and the
// signed checkpoint of the ledger, and that the ledger contains the receipts that the store refers to.
import path from 'node:path';
import { checkSqliteCopy, digestOfRows, type StoreCopy } from '@strata/db';
import { CheckedLeaves, decodeLeaves, type PublicKeys, publicKeysFrom, receiptIdsOf } from '@strata/log';
import { CommandError } from '../errors.ts';
import { digestOf, readVerified, readVerifiedText, refuseOther } from './backup-files.ts';
import { refuseUnsigned } from './ledger-source.ts';
import { type BackupOptions, latestReceipts, ledgerOf, refuseMissing } from './make-backup.ts';
import {
  CHECKPOINT_FILE,
  KEYS_FILE,
  LEAVES_FILE,
  type Manifest,
  type Part,
  partOf,
  readManifest,
  rowsFile,
  STORE_FILE,
} from './manifest.ts';
import { type Trust, verifyManifest } from './signature.ts';

export interface CheckedBackup {
  readonly manifest: Manifest;
  readonly keys: PublicKeys;
  /** Signed note; undefined for a log without one. */
  readonly checkpoint: string | undefined;
  /** Verifier key of the accepted signer; undefined where one is not required. */
  readonly signedBy: string | undefined;
}

export interface CheckOptions extends BackupOptions {
  readonly trust: Trust;
}

/** Throws CommandError, StoreError, LogError or KeyringError for the first problem; writes nothing. */
export async function checkBackup(folder: string, options: CheckOptions): Promise<CheckedBackup> {
  const { manifest, bytes } = await readManifest(folder);
  const names = new Set(manifest.files.map((part) => part.path));
  for (const name of [LEAVES_FILE, ...storeFiles(manifest)]) partOf(manifest, name);
  const keys = publicKeysFrom(await textOf(folder, partOf(manifest, KEYS_FILE)), KEYS_FILE);
  // Before anything else is read.
  const signed = { bytes, madeAt: manifest.made_at, publicKeys: keys };
  const signedBy = await verifyManifest(folder, signed, options.trust);
  for (const part of manifest.files) {
    const found = await digestOf(path.join(folder, part.path), options.signal).catch((cause: unknown) => {
      throw new CommandError(`the backup is damaged: ${part.path} cannot be read`, { cause });
    });
    refuseOther(part, found);
  }
  await checkStorePart(folder, manifest, options);
  const checkpoint = names.has(CHECKPOINT_FILE) ? await textOf(folder, partOf(manifest, CHECKPOINT_FILE)) : undefined;
  await checkLedgerPart(folder, manifest, { ...options, checkpoint });
  await refuseUnsigned(checkpoint, keys, 'the backup is damaged');
  return { manifest, keys, checkpoint, signedBy };
}

const textOf = (folder: string, part: Part): Promise<string> =>
  readVerifiedText(folder, part).catch((cause: unknown) => {
    if (cause instanceof CommandError) throw cause;
    throw new CommandError(`the backup is damaged: ${part.path} cannot be read`, { cause });
  });

const storeFiles = ({ store }: Manifest): readonly string[] =>
  store.kind === 'sqlite' ? [STORE_FILE] : store.tables.map(({ table }) => rowsFile(table));

export const storeOf = ({ store }: Manifest): StoreCopy => store as StoreCopy;

async function checkStorePart(
  folder: string,
  manifest: Manifest,
  { onProgress, signal }: BackupOptions,
): Promise<void> {
  if (manifest.store.kind === 'sqlite') return checkSqliteCopy(path.resolve(folder, STORE_FILE), storeOf(manifest));
  let done = 0;
  for (const { table, rows, sha256 } of manifest.store.tables) {
    const found = await digestOfRows(readVerified(folder, partOf(manifest, rowsFile(table))), signal);
    done += found.rows;
    onProgress?.({ what: 'store', done, unit: 'rows' });
    if (found.rows !== rows || found.sha256 !== sha256)
      throw new CommandError(`the backup is damaged: the rows of ${table} do not match the manifest`);
  }
}

async function checkLedgerPart(
  folder: string,
  manifest: Manifest,
  { checkpoint, onProgress, signal }: BackupOptions & { readonly checkpoint: string | undefined },
): Promise<void> {
  const missing = await latestReceipts(folder, manifest.files);
  const expected = missing.size;
  const checked = new CheckedLeaves(checkpoint);
  let done = 0;
  for await (const batch of checked.through(decodeLeaves(readVerified(folder, partOf(manifest, LEAVES_FILE))))) {
    signal?.throwIfAborted();
    done += batch.length;
    onProgress?.({ what: 'ledger', done, unit: 'receipts' });
    if (missing.size > 0) for (const id of receiptIdsOf(batch)) missing.delete(id);
  }
  if (JSON.stringify(ledgerOf(checked)) !== JSON.stringify(manifest.ledger))
    throw new CommandError('the backup is damaged: the ledger does not match the manifest');
  refuseMissing(missing, expected, 'store and ledger are not of the same service');
}
