// Restores a backup: verifies it, stages it in the data directory, and moves it into position by renames. Existing data is renamed, never
// deleted. From the first change to the last, the data directory contains a folder `restoring`. A service does not start where it exists,
// so a crash between two renames cannot lead to a service with partly restored data.

import { existsSync } from 'node:fs';
import { copyFile, mkdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { prepareRestoredSqlite, sqliteFileOf } from '@strata/db';
import { replaceFile } from '@strata/files';
import {
  checkpointIn,
  checkpointOf,
  createDirectoryLog,
  isLedgerDirectory,
  ledgerIn,
  lockLog,
  readCheckpoint,
  readKeysFile,
  restoreKeys,
} from '@strata/log';
import { type Config, RESTORING } from '@strata/stack';
import { ledgerCheckpointIn, stackSchema } from '@strata/stack/store';
import { CommandError, usageError } from '../errors.ts';
import { digestOf, refuseOther } from './backup-files.ts';
import { type CheckedBackup, checkBackup } from './check-backup.ts';
import { type Filling, fillFrom } from './fill-ledger.ts';
import { type Manifest, type Part, partOf, STORE_FILE } from './manifest.ts';
import {
  moveAside,
  type Restored,
  type RestoreOptions,
  type RestoreTarget,
  readHere,
  refuseFork,
  withStaging,
} from './restore-options.ts';
import { restoreToPostgres } from './restore-postgres.ts';
import { trustOf } from './signature.ts';

/** Rejects with CommandError, StoreError, LogError or KeyringError. Before the renames, an error leaves everything unchanged. */
export async function restoreBackup(config: Config, folder: string, options: RestoreOptions): Promise<Restored> {
  const trust = await trustOf(config.dataDirectory, options);
  const checked = await checkBackup(folder, { ...options, trust });
  const target = targetOf(config, checked.manifest);
  if (target.storeFile === undefined) return restoreToPostgres(config, folder, checked, options);
  const { storeFile } = target;
  const ledgerHere = isLedgerDirectory(target.ledger) || existsSync(checkpointIn(target.ledger));
  const existing = [storeFile, ledgerHere ? target.ledger : undefined].filter(
    (each) => each !== undefined && existsSync(each),
  );
  if (existing.length > 0 && !options.replace)
    throw usageError(`${existing.join(' and ')} already exists; use --replace to replace existing data`);
  if (options.keepLedger && !ledgerHere) throw usageError('the data directory has no ledger to keep');
  const given = options.keysFile === undefined ? undefined : await readKeysFile(options.keysFile);
  await mkdir(target.directory, { recursive: true });
  // A running service holds this lock.
  using _lock = existsSync(target.ledger) ? lockLog(target.ledger) : undefined;
  const leaves = await checkLedgers(target, checked, { ...options, ledgerHere });

  const { directory } = target;
  const ready = `${storeFile}.${RESTORING}`;
  return withStaging(directory, [ready], async (staging, startMoving) => {
    const now = new Date();
    const isFilled = !options.keepLedger && (checked.manifest.ledger.leaves > 0 || options.origin !== undefined);
    const origin = options.origin ?? checked.manifest.ledger.origin ?? config.ledgerOrigin;
    const filled = isFilled
      ? await fillStaged(staging, { folder, checked, given, directory, origin, now, options })
      : undefined;
    options.signal?.throwIfAborted();
    await stageStore(folder, partOf(checked.manifest, STORE_FILE), { ready, signal: options.signal });
    options.signal?.throwIfAborted();
    startMoving();
    const aside = await moveAside(target, { keepsLedger: options.keepLedger });
    if (filled) await rename(ledgerIn(staging), target.ledger);
    await rename(ready, storeFile);
    const keys = filled?.keys ?? given;
    const made = await restoreKeys(directory, { published: checked.keys, now, ...(keys && { given: keys }) });
    const newKeys = filled?.newKeys ?? made;
    return { manifest: checked.manifest, signedBy: checked.signedBy, leaves, newKeys, aside };
  });
}

function targetOf({ dataDirectory, databaseUrl }: Config, { store }: Manifest): RestoreTarget {
  const storeFile = sqliteFileOf(databaseUrl);
  if ((storeFile === undefined) !== (store.kind === 'postgres')) {
    const [of, here] = store.kind === 'sqlite' ? ['SQLite', 'PostgreSQL'] : ['PostgreSQL', 'SQLite'];
    const advice =
      store.kind === 'sqlite'
        ? 'restore it without STRATA_DATABASE_URL, then run `strata stack migrate-store`'
        : 'set STRATA_DATABASE_URL to an empty PostgreSQL database';
    throw usageError(`the backup is of ${of}, and the configured database is ${here}: ${advice}`);
  }
  return { directory: dataDirectory, ledger: ledgerIn(dataDirectory), storeFile };
}

/**
 * Refuses to continue a log from the backup if more receipts were published than the backup has: the log would fork. Returns the number of leaves that
 * the restored log has.
 */
async function checkLedgers(
  target: RestoreTarget,
  { manifest }: CheckedBackup,
  options: RestoreOptions & { readonly ledgerHere: boolean },
): Promise<number> {
  const { leaves } = manifest.ledger;
  const here = options.ledgerHere ? await readHere(target.ledger, leaves) : undefined;
  const known = publishedByStore(target, manifest);
  if (options.keepLedger) {
    if (here?.problem) throw new CommandError(`the ledger of the data directory cannot be kept: ${here.problem}`);
    if (!here || here.leaves < leaves)
      throw new CommandError(
        'the ledger of the data directory has fewer receipts than the backup; restore without --keep-ledger',
      );
    if (here.leaves < known)
      throw new CommandError(
        `the ledger of the data directory cannot be kept: it has only ${here.leaves} of ${known} published receipts`,
      );
    if (here.rootThen !== manifest.ledger.root)
      throw new CommandError(
        'the ledger of the data directory is not the ledger of the backup: their common leaves differ',
      );
    return here.leaves;
  }
  const published = options.published === undefined ? undefined : (await readCheckpoint(options.published)).size;
  const furthest = Math.max(here?.leaves ?? 0, published ?? 0, known);
  if (options.origin === undefined) {
    const keep =
      here && !here.problem && here.leaves >= furthest
        ? '--keep-ledger keeps the newer ledger of the data directory; '
        : '';
    refuseFork(leaves, furthest, keep);
  }
  return leaves;
}

/** Leaves under the newest checkpoint in the existing store; 0 where it has none, or cannot be read. */
function publishedByStore({ storeFile }: RestoreTarget, { ledger }: Manifest): number {
  try {
    const note = ledgerCheckpointIn(`sqlite:${storeFile}`, ledger.origin ?? '');
    return note === undefined ? 0 : checkpointOf(note).size;
  } catch {
    return 0;
  }
}

async function stageStore(
  folder: string,
  part: Part,
  { ready, signal }: { readonly ready: string; readonly signal: AbortSignal | undefined },
): Promise<void> {
  await mkdir(path.dirname(ready), { recursive: true });
  await copyFile(path.join(folder, part.path), ready);
  // The file may have been altered after its verification.
  refuseOther(part, await digestOf(ready, signal));
  // A commit of SQLite makes the file durable.
  prepareRestoredSqlite(stackSchema, ready);
}

async function fillStaged(staging: string, filling: Filling): ReturnType<typeof fillFrom> {
  const ledger = ledgerIn(staging);
  await using tables = await createDirectoryLog(ledger);
  const filled = await fillFrom(staging, tables, filling);
  await replaceFile(checkpointIn(ledger), (await tables.log.head())?.note ?? '', { sync: 'all' });
  return filled;
}
