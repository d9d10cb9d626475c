// A backup read through, without restoring it: every file by its digest, the store by its rows, the ledger by its root and its
// signed checkpoint, and both by the receipts that the one tells of and the other must hold.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { CheckedLeaves, decodeLeaves, type PublicKeys, publicKeysFrom, receiptIdsOf } from '@strata/log';
import { checkSqliteCopy, digestOfRows, type StoreCopy } from '@strata/store';
import { CommandError } from '../output.ts';
import { refuseUnsigned } from './ledger-source.ts';
import { type BackupOptions, ledgerOf, receiptsTold, refuseUnknown } from './make-backup.ts';
import {
  CHECKPOINT_FILE,
  KEYS_FILE,
  LEAVES_FILE,
  type Manifest,
  readManifest,
  rowsFile,
  STORE_FILE,
} from './manifest.ts';
import { digestOf, readPart } from './parts.ts';

export interface CheckedBackup {
  readonly manifest: Manifest;
  readonly keys: PublicKeys;
  /** Signed note, undefined of a log that never had one. */
  readonly checkpoint: string | undefined;
}

/** Throws CommandError, StoreError, LogError or KeyringError for the first thing that does not add up; writes nothing. */
export async function checkBackup(folder: string, options: BackupOptions = {}): Promise<CheckedBackup> {
  const manifest = await readManifest(folder);
  const names = new Set(manifest.files.map((part) => part.path));
  for (const part of manifest.files) {
    const found = await digestOf(path.join(folder, part.path), options.signal).catch((cause: unknown) => {
      throw new CommandError(`the backup is damaged: ${part.path} cannot be read`, { cause });
    });
    if (found.bytes !== part.bytes || found.sha256 !== part.sha256)
      throw new CommandError(`the backup is damaged: ${part.path} is not what was written`);
  }
  const isWhole = [LEAVES_FILE, KEYS_FILE, ...storeFiles(manifest)].every((name) => names.has(name));
  if (!isWhole) throw new CommandError('the manifest lacks files that every backup has');
  await checkStorePart(folder, manifest, options);
  const checkpoint = names.has(CHECKPOINT_FILE)
    ? await readFile(path.join(folder, CHECKPOINT_FILE), 'utf8')
    : undefined;
  const keys = publicKeysFrom(await readFile(path.join(folder, KEYS_FILE), 'utf8'), KEYS_FILE);
  await checkLedgerPart(folder, manifest, { ...options, checkpoint });
  await refuseUnsigned(checkpoint, keys, 'the backup is damaged');
  return { manifest, keys, checkpoint };
}

const storeFiles = ({ store }: Manifest): readonly string[] =>
  store.kind === 'sqlite' ? [STORE_FILE] : store.tables.map(({ table }) => rowsFile(table));

/** The store as a manifest tells of it. */
export const storeOf = ({ store }: Manifest): StoreCopy => store as StoreCopy;

async function checkStorePart(
  folder: string,
  manifest: Manifest,
  { onProgress, signal }: BackupOptions,
): Promise<void> {
  if (manifest.store.kind === 'sqlite') return checkSqliteCopy(path.resolve(folder, STORE_FILE), storeOf(manifest));
  let done = 0;
  for (const { table, rows, sha256 } of manifest.store.tables) {
    const found = await digestOfRows(readPart(folder, rowsFile(table)), signal);
    done += found.rows;
    onProgress?.({ what: 'store', done, unit: 'rows' });
    if (found.rows !== rows || found.sha256 !== sha256)
      throw new CommandError(`the backup is damaged: ${table} does not hold the rows that were written`);
  }
}

async function checkLedgerPart(
  folder: string,
  manifest: Manifest,
  { checkpoint, onProgress, signal }: BackupOptions & { readonly checkpoint: string | undefined },
): Promise<void> {
  const wanted = await receiptsTold(folder, manifest.files);
  const told = wanted.size;
  const checked = new CheckedLeaves(checkpoint);
  let done = 0;
  for await (const batch of checked.through(decodeLeaves(readPart(folder, LEAVES_FILE)))) {
    signal?.throwIfAborted();
    done += batch.length;
    onProgress?.({ what: 'ledger', done, unit: 'receipts' });
    if (wanted.size > 0) for (const id of receiptIdsOf(batch)) wanted.delete(id);
  }
  if (JSON.stringify(ledgerOf(checked)) !== JSON.stringify(manifest.ledger))
    throw new CommandError('the backup is damaged: the ledger is not the one that the manifest tells of');
  refuseUnknown(wanted, told, 'the set is not of one service');
}
