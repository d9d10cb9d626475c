// Restores a backup into an empty PostgreSQL database: rows, leaves and the head of the ledger in one transaction, so that a crash before
// the commit leaves the database empty. The keys are written to the data directory just before the commit. From the first change to the
// last, the data directory contains the folder `restoring`, as with SQLite.
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { StoreError } from '@strata/db';
import {
  CheckedLeaves,
  checkpointIn,
  checkpointOf,
  decodeLeaves,
  isLedgerDirectory,
  type LedgerTables,
  LogError,
  ledgerIn,
  lockLog,
  openLedgerTables,
  readKeysFile,
  restoreKeys,
} from '@strata/log';
import type { Config } from '@strata/stack';
import { restorePostgres } from '@strata/stack/store';
import { CommandError, usageError } from '../errors.ts';
import { readBackupFile, readVerified } from './backup-files.ts';
import { type CheckedBackup, storeOf } from './check-backup.ts';
import { fillFrom } from './fill-ledger.ts';
import { rowProgress } from './make-backup.ts';
import { LEAVES_FILE, partOf, rowsFile } from './manifest.ts';
import { moveAside, type Restored, type RestoreOptions, readHere, refuseFork, withStaging } from './restore-options.ts';

/** Restores a verified backup. */
export async function restoreToPostgres(
  config: Config,
  folder: string,
  checked: CheckedBackup,
  options: RestoreOptions,
): Promise<Restored> {
  const { dataDirectory: directory, databaseUrl } = config;
  const { manifest } = checked;
  if (options.keepLedger)
    throw usageError(
      '--keep-ledger is for a ledger in a data directory: with PostgreSQL the ledger is in the database, which must be empty.\n' +
        'if receipts after the backup are lost, --origin NAME starts a log with a new name from the receipts of the backup',
    );
  const ledger = ledgerIn(directory);
  // A new log would start in this folder. Otherwise it has the checkpoint that this node served last, which the restored log must extend.
  const leavesLedger = isLedgerDirectory(ledger) || (options.origin !== undefined && existsSync(checkpointIn(ledger)));
  if (leavesLedger && !options.replace)
    throw usageError(`${ledger} already exists; use --replace to replace existing data`);
  const given = options.keysFile === undefined ? undefined : await readKeysFile(options.keysFile);
  await mkdir(directory, { recursive: true });
  using _lock = isLedgerDirectory(ledger) ? lockLog(ledger) : undefined;
  await checkLedgers(databaseUrl, ledger, { folder, checked, options });

  return withStaging(directory, [], async (staging, startMoving) => {
    const restored: { newKeys: Restored['newKeys']; aside: Restored['aside'] } = { newKeys: [], aside: [] };
    // The outcome of a commit without a response is unknown, so the folder `restoring` remains.
    const finish = async (tables: LedgerTables) => {
      const now = new Date();
      const published = checked.keys;
      const set = { folder, checked, given, origin: options.origin ?? manifest.ledger.origin ?? config.ledgerOrigin };
      const filled =
        manifest.ledger.leaves > 0 ? await fillFrom(staging, tables, { ...set, directory, now, options }) : undefined;
      options.signal?.throwIfAborted();
      startMoving();
      const keys = filled?.keys ?? given;
      const made = await restoreKeys(directory, { published, now, ...(keys && { given: keys }) });
      restored.newKeys = filled?.newKeys ?? made;
      restored.aside = await moveAside({ directory, ledger, storeFile: undefined }, { keepsLedger: !leavesLedger });
    };
    const rowsOf = (table: string) => readVerified(folder, partOf(manifest, rowsFile(table)));
    const copying = { ...rowProgress(options), fillLedger: finish };
    await restorePostgres(databaseUrl, storeOf(manifest), rowsOf, copying);
    return { manifest, signedBy: checked.signedBy, leaves: manifest.ledger.leaves, ...restored };
  });
}

interface LedgersToCheck {
  readonly folder: string;
  readonly checked: CheckedBackup;
  readonly options: RestoreOptions;
}

/**
 * Refuses to continue from fewer or other receipts than were published, according to the database, the checkpoint that this node served
 * last, and the checkpoint of --published.
 */
async function checkLedgers(url: string, ledger: string, { folder, checked, options }: LedgersToCheck): Promise<void> {
  const { leaves } = checked.manifest.ledger;
  const stored = await leavesInDatabase(url);
  const notes = [
    await readFile(checkpointIn(ledger), 'utf8').catch(() => undefined),
    options.published === undefined ? undefined : await readFile(options.published, 'utf8'),
  ].flatMap((note) => note || []);
  const sizes = notes.map((note) => checkpointOf(note).size);
  const inFolder = isLedgerDirectory(ledger) ? (await readHere(ledger, leaves)).leaves : 0;
  if (options.origin === undefined) {
    refuseFork(leaves, Math.max(stored, inFolder, ...sizes), '');
    for (const note of notes) await refuseOther(note, folder);
  }
  if (stored > 0) throw new StoreError('not-empty', { cause: new Error(`its ledger has ${stored} leaves`) });
}

async function leavesInDatabase(url: string): Promise<number> {
  await using tables = await openLedgerTables(url);
  return (await tables?.log.head())?.size ?? 0;
}

async function refuseOther(note: string, folder: string): Promise<void> {
  try {
    for await (const _ of new CheckedLeaves(note).through(decodeLeaves(readBackupFile(folder, LEAVES_FILE))));
  } catch (cause) {
    if (!(cause instanceof LogError)) throw cause;
    throw new CommandError(
      `the ledger of the backup is not the published one: ${cause.message}.\n--origin NAME starts a log with a new name from the receipts of the backup`,
      { cause },
    );
  }
}
