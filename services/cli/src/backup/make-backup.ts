// Backs up a running service. The order makes the backup consistent: first the store, then the ledger, then the keys. The leaf of a
// receipt is durable before the store refers to the receipt, so the ledger contains every receipt of the store; and keys are never
// deleted, so the keys verify every leaf.

import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { backupSqlite, dumpPostgres, type RowsText, type StoreCopy, sqliteFileOf } from '@strata/db';
import { syncDirectory } from '@strata/files';
import {
  CheckedLeaves,
  encodeLeaves,
  KEYRINGS,
  type LeafBatches,
  makeKeys,
  type PublicKeys,
  publishedLedgerKeys,
  publishedReceiptKeys,
  readPublicKeys,
  receiptIdsOf,
  writeKeysFile,
} from '@strata/log';
import { KEY_OVERLAP_MS } from '@strata/receipts';
import type { Config } from '@strata/stack';
import { receiptsInRows, receiptsInSqliteCopy, stackSchema } from '@strata/stack/store';
import { CommandError, usageError } from '../errors.ts';
import { counted } from '../output.ts';
import { rowCounts } from '../progress.ts';
import { COMMAND_VERSION } from '../version.ts';
import { describeBackupFile, readBackupFile, writeBackupFile } from './backup-files.ts';
import { type LedgerSource, openLedgerSource, refuseUnsigned } from './ledger-source.ts';
import {
  CHECKPOINT_FILE,
  KEYS_FILE,
  LEAVES_FILE,
  MANIFEST_FILE,
  type Manifest,
  type Part,
  rowsFile,
  STORE_FILE,
} from './manifest.ts';
import { SIGNATURE_FILE, signManifest } from './signature.ts';

export interface BackupProgress {
  readonly what: 'store' | 'ledger';
  readonly done: number;
  readonly unit: 'MB' | 'rows' | 'receipts';
}

export interface BackupOptions {
  /** File for the private keys; without it, they are not written. */
  readonly keysFile?: string | undefined;
  readonly onProgress?: (progress: BackupProgress) => void;
  readonly signal?: AbortSignal;
}

const MB = 1_000_000;

/**
 * Writes a backup to `target`, which must not exist. An incomplete backup has a temporary name in the same folder; after a crash, the next
 * run deletes it. Rejects with CommandError, StoreError or LogError, or with the signal's reason.
 */
export async function makeBackup(config: Config, target: string, options: BackupOptions = {}): Promise<Manifest> {
  const { keysFile, signal } = options;
  for (const file of [target, ...(keysFile === undefined ? [] : [keysFile])])
    if (existsSync(file)) throw usageError(`'${file}' already exists; choose a new name`);
  const keysFolder = path.dirname(keysFile ?? target);
  if (keysFile !== undefined && !existsSync(keysFolder))
    throw usageError(`the folder '${keysFolder}' of the keys file does not exist; create it first`);
  const complete = path.resolve(target);
  const work = path.join(path.dirname(complete), `.${path.basename(complete)}.unfinished`);
  await rm(work, { recursive: true, force: true });
  await mkdir(work, { recursive: true, mode: 0o700 });
  let isKeysFileOurs = false;
  try {
    const files: Part[] = [];
    const store = await backupStore(config, work, files, options);
    await using source = await openLedgerSource(config);
    const ledger = await backupLedger(source, work, files, options);
    const published = await source.publishedKeys();
    const isNew = source.kind === 'directory' && source.note === undefined && ledger.leaves === 0;
    const own = await keysOf(config.dataDirectory, { isNew, hasKeysFile: keysFile !== undefined });
    const keys = await withPublishedKeys(own, { origin: config.ledgerOrigin, published });
    refuseOldKeys(keys, own, keysFile);
    await refuseUnsigned(source.note, keys, 'run this with the newest keys folder of the service (STRATA_DATA)');
    files.push(await writeBackupFile(work, KEYS_FILE, oneText(`${JSON.stringify(keys, null, 2)}\n`)));
    const manifest: Manifest = {
      ...{ format: 'strata-stack-backup', version: 1, made_at: new Date().toISOString(), strata: COMMAND_VERSION },
      store: {
        ...store,
        tables: store.tables.map((each) => ({ ...each, columns: each.columns && [...each.columns] })),
      },
      ledger,
      files,
    };
    if (keysFile !== undefined) {
      await writeKeysFile(config.dataDirectory, keysFile);
      isKeysFileOurs = true;
    }
    signal?.throwIfAborted();
    const text = `${JSON.stringify(manifest, null, 2)}\n`;
    const origin = ledger.origin ?? config.ledgerOrigin;
    const note = await signManifest(config.dataDirectory, origin, new TextEncoder().encode(text));
    await writeBackupFile(work, SIGNATURE_FILE, oneText(note));
    await writeBackupFile(work, MANIFEST_FILE, oneText(text));
    for (const folder of ['store', 'ledger', '.'].map((name) => path.join(work, name)))
      if (existsSync(folder)) await syncDirectory(folder);
    await rename(work, complete);
    await syncDirectory(path.dirname(complete));
    return manifest;
  } catch (error) {
    await rm(work, { recursive: true, force: true });
    if (isKeysFileOurs && keysFile !== undefined) await rm(keysFile, { force: true });
    throw error;
  }
}

/**
 * The keys of a data directory. Creates those of a new service, as its first start does: without them the backup cannot be signed, and a
 * keys file without one of them cannot be restored.
 */
async function keysOf(
  directory: string,
  { isNew, hasKeysFile }: { readonly isNew: boolean; readonly hasKeysFile: boolean },
): Promise<PublicKeys> {
  const keys = await readPublicKeys(directory);
  const missing = KEYRINGS.filter((name) => keys[name].length === 0);
  if (isNew && missing.length > 0) {
    await makeKeys(directory);
    return readPublicKeys(directory);
  }
  if (missing.includes('ledger') || (hasKeysFile && missing.length > 0))
    throw new CommandError(
      `${path.join(directory, 'keys')} has no signing key of ${missing.join(' and ')}: run this with the keys folder of the service (STRATA_DATA). ` +
        'If the service was never started, create the first keys with `strata stack keys rotate-signing`',
    );
  return keys;
}

/**
 * Refuses retired keys: a service that is restored with them cannot sign, and verifiers do not accept later signatures. Without
 * `keysFile`, the ledger key is accepted as long as verifiers accept it.
 */
function refuseOldKeys(keys: PublicKeys, own: PublicKeys, keysFile: string | undefined): void {
  for (const name of KEYRINGS) {
    const retiredAt = keys[name].find(({ x }) => x === own[name][0]?.x)?.not_after;
    if (retiredAt === undefined) continue;
    if (keysFile === undefined && (name !== 'ledger' || Date.now() < Date.parse(retiredAt) + KEY_OVERLAP_MS)) continue;
    throw new CommandError(
      `the signing keys of ${name} here were retired on ${retiredAt} by a rotation on another node: run this with the newest keys folder (STRATA_DATA)` +
        (keysFile === undefined ? '' : ', or without --keys'),
    );
  }
}

/** The keys of this folder, and the ledger keys that nodes have published since. */
async function withPublishedKeys(
  own: PublicKeys,
  { origin, published }: { readonly origin: string; readonly published: Readonly<Record<string, string>> },
): Promise<PublicKeys> {
  if (Object.keys(published).length === 0) return own;
  const texts = { origin, texts: new Map(Object.entries(published)) };
  const ledgerKeys = await publishedLedgerKeys(own.ledger, texts);
  const ledger = ledgerKeys.map(({ x, not_before, not_after }) => ({ x, not_before, ...(not_after && { not_after }) }));
  const receiptKeys = await publishedReceiptKeys(ledgerKeys, texts);
  const receipts = own.receipts.map((key) => {
    const retiredAt = key.not_after ?? receiptKeys.find(({ x }) => x === key.x)?.not_after;
    return { ...key, ...(retiredAt && { not_after: retiredAt }) };
  });
  return { receipts, ledger, published };
}

async function backupStore(
  { databaseUrl }: Config,
  work: string,
  files: Part[],
  options: BackupOptions,
): Promise<StoreCopy> {
  const { onProgress, signal } = options;
  const file = sqliteFileOf(databaseUrl);
  if (file !== undefined) {
    const copy = await backupSqlite(file, path.join(work, STORE_FILE), {
      ...(signal && { signal }),
      onProgress: ({ bytes }) => onProgress?.({ what: 'store', done: bytes / MB, unit: 'MB' }),
    });
    files.push(await describeBackupFile(work, STORE_FILE, signal));
    return copy;
  }
  const write = async (table: string, rows: RowsText) =>
    void files.push(await writeBackupFile(work, rowsFile(table), rows));
  return dumpPostgres(stackSchema, databaseUrl, write, rowProgress(options));
}

/** The options of a copy of PostgreSQL. */
export function rowProgress({ onProgress, signal }: Omit<BackupOptions, 'keysFile'>) {
  const total = rowCounts();
  return {
    ...(signal && { signal }),
    onProgress: ({ table, rows }: { readonly table: string; readonly rows: number }) =>
      onProgress?.({ what: 'store', done: total(table, rows), unit: 'rows' }),
  };
}

async function backupLedger(
  source: LedgerSource,
  work: string,
  files: Part[],
  { onProgress, signal }: BackupOptions,
): Promise<Manifest['ledger']> {
  const { note } = source;
  const checked = new CheckedLeaves(note);
  const missing = await latestReceipts(work, files);
  const expected = missing.size;
  let done = 0;
  async function* counting(leaves: LeafBatches): LeafBatches {
    for await (const batch of leaves) {
      signal?.throwIfAborted();
      done += batch.length;
      onProgress?.({ what: 'ledger', done, unit: 'receipts' });
      if (missing.size > 0) for (const id of receiptIdsOf(batch)) missing.delete(id);
      yield batch;
    }
  }
  files.push(await writeBackupFile(work, LEAVES_FILE, encodeLeaves(counting(checked.through(source.leaves())))));
  const advice =
    source.kind === 'directory'
      ? 'check that STRATA_DATA is the directory of the service that uses this database'
      : 'the tables of this database are inconsistent';
  refuseMissing(missing, expected, advice);
  if (note !== undefined) files.push(await writeBackupFile(work, CHECKPOINT_FILE, oneText(note)));
  return ledgerOf(checked);
}

/** The ledger entry of a manifest, after all leaves were read. */
export function ledgerOf({ digest }: CheckedLeaves): Manifest['ledger'] {
  const { leaves, root, origin, checkpointLeaves } = digest;
  return { leaves, root, origin: origin ?? null, checkpoint_leaves: checkpointLeaves };
}

/** The ledger ids of the latest receipts that the store of the backup refers to. */
export async function latestReceipts(folder: string, files: readonly Part[]): Promise<Set<string>> {
  if (files.some((part) => part.path === STORE_FILE))
    return new Set(receiptsInSqliteCopy(path.join(folder, STORE_FILE)));
  const stream = rowsFile('stream_events');
  return new Set(
    files.some((part) => part.path === stream) ? await receiptsInRows(readBackupFile(folder, stream)) : [],
  );
}

export function refuseMissing(missing: ReadonlySet<string>, expected: number, advice: string): void {
  if (missing.size === 0) return;
  const [example] = missing;
  const which = `${missing.size} of the ${counted(expected, 'latest receipt')} of the store, such as ${example}`;
  throw new CommandError(`the ledger does not have ${which}: ${advice}`);
}

async function* oneText(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}
