// A backup of a running service. The order is what makes it one set: the store first, then the ledger, then the keys. A receipt's
// leaf is durable before anything tells of the receipt, so the later ledger holds every receipt that the earlier store tells of; and
// keys are never forgotten, so the still later keys prove every leaf.

import { existsSync } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { sqliteFileOf } from '@strata/db';
import {
  CheckedLeaves,
  encodeLeaves,
  KEYRINGS,
  type LeafBatches,
  ledgerKeysTold,
  makeKeys,
  type PublicKeys,
  readPublicKeys,
  receiptIdsOf,
  receiptKeysTold,
  writeKeysFile,
} from '@strata/log';
import { KEY_OVERLAP_MS } from '@strata/receipts';
import type { Config } from '@strata/stack';
import {
  backupSqlite,
  dumpPostgres,
  type RowsText,
  receiptsInRows,
  receiptsInSqliteCopy,
  type StoreCopy,
} from '@strata/store';
import { CommandError, counted } from '../output.ts';
import { COMMAND_VERSION } from '../version.ts';
import { describePart, readPart, writePart } from './backup-files.ts';
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
  /** Where the private keys go, beside the set; nowhere without it. */
  readonly keysFile?: string | undefined;
  readonly onProgress?: (progress: BackupProgress) => void;
  readonly signal?: AbortSignal;
}

const MB = 1_000_000;

/**
 * Writes a backup to `target`, where nothing is. Until it is whole it has another name, beside: a kill leaves that, and the next run
 * takes it away. Rejects with CommandError, StoreError or LogError, or with the signal's reason.
 */
export async function makeBackup(config: Config, target: string, options: BackupOptions = {}): Promise<Manifest> {
  const { keysFile, signal } = options;
  for (const place of [target, ...(keysFile === undefined ? [] : [keysFile])])
    if (existsSync(place)) throw new CommandError(`'${place}' is there already; give a new name`, { exitCode: 2 });
  const whole = path.resolve(target);
  const work = path.join(path.dirname(whole), `.${path.basename(whole)}.unfinished`);
  await rm(work, { recursive: true, force: true });
  await mkdir(work, { recursive: true, mode: 0o700 });
  let isKeysFileOurs = false;
  try {
    const files: Part[] = [];
    const store = await backupStore(config, work, files, options);
    await using source = await openLedgerSource(config);
    const ledger = await backupLedger(source, work, files, options);
    const published = await source.publishedKeys();
    const isNew = source.kind === 'folder' && source.note === undefined && ledger.leaves === 0;
    const own = await keysOf(config.dataDirectory, { isNew, hasKeysFile: keysFile !== undefined });
    const keys = await keysBeside(own, { origin: config.ledgerOrigin, published });
    refuseOldKeys(keys, own, keysFile);
    await refuseUnsigned(source.note, keys, 'run this where the newest keys folder of the service is (STRATA_DATA)');
    files.push(await writePart(work, KEYS_FILE, oneText(`${JSON.stringify(keys, null, 2)}\n`)));
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
    await writePart(work, SIGNATURE_FILE, oneText(note));
    await writePart(work, MANIFEST_FILE, oneText(text));
    for (const folder of ['store', 'ledger', '.']) await syncFolder(path.join(work, folder));
    await rename(work, whole);
    await syncFolder(path.dirname(whole));
    return manifest;
  } catch (error) {
    await rm(work, { recursive: true, force: true });
    if (isKeysFileOurs && keysFile !== undefined) await rm(keysFile, { force: true });
    throw error;
  }
}

/**
 * The keys of a data directory. Those of a new service are made, as its first start would make them: without them nothing can sign the
 * backup, and a file of keys that lacks one cannot be restored.
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
      `${path.join(directory, 'keys')} has no signing key of ${missing.join(' and ')}: run this where the keys folder of the service is (STRATA_DATA). ` +
        'Where the service was never started, `strata stack keys rotate-signing` makes the first keys',
    );
  return keys;
}

/**
 * A service that was restored with retired keys could not sign, and verification does not accept what they have signed since. Without
 * `keysFile` the ledger's key is good for as long as verifiers accept it.
 */
function refuseOldKeys(keys: PublicKeys, own: PublicKeys, keysFile: string | undefined): void {
  for (const name of KEYRINGS) {
    const retiredAt = keys[name].find(({ x }) => x === own[name][0]?.x)?.not_after;
    if (retiredAt === undefined) continue;
    if (keysFile === undefined && (name !== 'ledger' || Date.now() < Date.parse(retiredAt) + KEY_OVERLAP_MS)) continue;
    throw new CommandError(
      `the signing keys of ${name} here were retired on ${retiredAt} by a rotation on another node: back up where the newest keys folder is (STRATA_DATA)` +
        (keysFile === undefined ? '' : ', or leave --keys out'),
    );
  }
}

/** The keys of this folder, and those of the ledger that its nodes have rotated to since. */
async function keysBeside(
  own: PublicKeys,
  { origin, published }: { readonly origin: string; readonly published: Readonly<Record<string, string>> },
): Promise<PublicKeys> {
  if (Object.keys(published).length === 0) return own;
  const texts = { origin, told: new Map(Object.entries(published)) };
  const told = await ledgerKeysTold(own.ledger, texts);
  const ledger = told.map(({ x, not_before, not_after }) => ({ x, not_before, ...(not_after && { not_after }) }));
  const others = await receiptKeysTold(told, texts);
  const receipts = own.receipts.map((key) => {
    const retiredAt = key.not_after ?? others.find(({ x }) => x === key.x)?.not_after;
    return { ...key, ...(retiredAt && { not_after: retiredAt }) };
  });
  return { receipts, ledger, published };
}

async function backupStore(
  { databaseUrl }: Config,
  work: string,
  files: Part[],
  { onProgress, signal }: BackupOptions,
): Promise<StoreCopy> {
  const stopping = signal ? { signal } : {};
  const file = sqliteFileOf(databaseUrl);
  if (file !== undefined) {
    const copy = await backupSqlite(file, path.join(work, STORE_FILE), {
      ...stopping,
      onProgress: ({ bytes }) => onProgress?.({ what: 'store', done: bytes / MB, unit: 'MB' }),
    });
    files.push(await describePart(work, STORE_FILE, signal));
    return copy;
  }
  const rowsOf = new Map<string, number>();
  const write = async (table: string, rows: RowsText) => void files.push(await writePart(work, rowsFile(table), rows));
  return dumpPostgres(databaseUrl, write, {
    ...stopping,
    onProgress: ({ table, rows }) => {
      rowsOf.set(table, rows);
      onProgress?.({ what: 'store', done: rowsOf.values().reduce((sum, each) => sum + each, 0), unit: 'rows' });
    },
  });
}

async function backupLedger(
  source: LedgerSource,
  work: string,
  files: Part[],
  { onProgress, signal }: BackupOptions,
): Promise<Manifest['ledger']> {
  const { note } = source;
  const checked = new CheckedLeaves(note);
  const wanted = await receiptsTold(work, files);
  const told = wanted.size;
  let done = 0;
  async function* counting(leaves: LeafBatches): LeafBatches {
    for await (const batch of leaves) {
      signal?.throwIfAborted();
      done += batch.length;
      onProgress?.({ what: 'ledger', done, unit: 'receipts' });
      if (wanted.size > 0) for (const id of receiptIdsOf(batch)) wanted.delete(id);
      yield batch;
    }
  }
  files.push(await writePart(work, LEAVES_FILE, encodeLeaves(counting(checked.through(source.leaves())))));
  const advice =
    source.kind === 'folder'
      ? 'is STRATA_DATA the directory of the service that uses this database?'
      : 'the tables of this database are not of one moment';
  refuseUnknown(wanted, told, advice);
  if (note !== undefined) files.push(await writePart(work, CHECKPOINT_FILE, oneText(note)));
  return ledgerOf(checked);
}

/** What a manifest says of leaves that were read to their end. */
export function ledgerOf({ digest }: CheckedLeaves): Manifest['ledger'] {
  const { leaves, root, origin, checkpointLeaves } = digest;
  return { leaves, root, origin: origin ?? null, checkpoint_leaves: checkpointLeaves };
}

/** The ledger's ids of the newest receipts that the store of the set tells of. */
export async function receiptsTold(folder: string, files: readonly Part[]): Promise<Set<string>> {
  if (files.some((part) => part.path === STORE_FILE))
    return new Set(receiptsInSqliteCopy(path.join(folder, STORE_FILE)));
  const stream = rowsFile('stream_events');
  return new Set(files.some((part) => part.path === stream) ? await receiptsInRows(readPart(folder, stream)) : []);
}

export function refuseUnknown(missing: ReadonlySet<string>, told: number, advice: string): void {
  if (missing.size === 0) return;
  const [example] = missing;
  const which = `${missing.size} of the ${counted(told, 'receipt')} that the store told of last`;
  throw new CommandError(`the ledger lacks ${which}, ${example} among them: ${advice}`);
}

async function* oneText(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}

async function syncFolder(folder: string): Promise<void> {
  if (!existsSync(folder)) return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
