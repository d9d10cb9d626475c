// A backup put into an empty PostgreSQL database: rows, leaves and the ledger's head in one transaction, so that before its commit the
// database is as empty as it was, whoever is killed. The data directory gets its keys just before the commit; from the first change
// to the last there is the folder `restoring` in it, as on SQLite.
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import {
  CheckedLeaves,
  checkpointOf,
  decodeLeaves,
  fillLedger,
  LogError,
  lockLog,
  readCheckpoint,
  readKeysFile,
  restoreKeys,
  writeKeysFile,
} from '@strata/log';
import { type Config, RESTORING, sharedLedgerOf } from '@strata/stack';
import { type LedgerTables, loadPostgres, openLedgerTables, StoreError } from '@strata/store';
import { CommandError } from '../output.ts';
import { readPart, readVerified } from './backup-files.ts';
import { type CheckedBackup, storeOf } from './check-backup.ts';
import { isOpenLog } from './ledger-source.ts';
import { LEAVES_FILE, partOf, rowsFile } from './manifest.ts';
import { moveAside, type Restored, type RestoreOptions, readHere, refuseFork } from './restore-options.ts';

type Given = Awaited<ReturnType<typeof readKeysFile>>;

/** `restoreBackup` of a set that was verified. */
export async function restoreToPostgres(
  config: Config,
  folder: string,
  checked: CheckedBackup,
  options: RestoreOptions,
): Promise<Restored> {
  const { dataDirectory: directory, databaseUrl } = config;
  const { manifest } = checked;
  if (options.keepLedger)
    throw new CommandError(
      '--keep-ledger is for a ledger in a folder: on PostgreSQL it is in the database, and a restore goes into an empty one.\n' +
        'where receipts after the backup are lost, --origin NAME begins a log of a new name with those of the backup',
      { exitCode: 2 },
    );
  const ledger = path.join(directory, 'ledger');
  // A folder that another log would begin in. Else it has the checkpoint that this node served last, which the restored log must lead to.
  const leavesLedger =
    isOpenLog(ledger) || (options.origin !== undefined && existsSync(path.join(ledger, 'checkpoint')));
  if (leavesLedger && !options.replace)
    throw new CommandError(`${ledger} would be replaced: say so with --replace`, { exitCode: 2 });
  const given = options.keysFile === undefined ? undefined : await readKeysFile(options.keysFile);
  await mkdir(directory, { recursive: true });
  using _lock = isOpenLog(ledger) ? lockLog(ledger) : undefined;
  await judgeLedgers(databaseUrl, ledger, { folder, checked, options });

  const staging = path.join(directory, RESTORING);
  await rm(staging, { recursive: true, force: true });
  await mkdir(staging, { mode: 0o700 });
  const restored: { newKeys: Restored['newKeys']; aside: Restored['aside'] } = { newKeys: [], aside: [] };
  let isMoving = false;
  try {
    const finish = async (tables: LedgerTables) => {
      const now = new Date();
      const published = checked.keys;
      const set = { folder, checked, given, origin: options.origin ?? manifest.ledger.origin ?? config.ledgerOrigin };
      const filled =
        manifest.ledger.leaves > 0 ? await fillFrom(staging, tables, { ...set, directory, now, options }) : undefined;
      options.signal?.throwIfAborted();
      isMoving = true;
      const keys = filled?.keys ?? given;
      const made = await restoreKeys(directory, { published, now, ...(keys ? { given: keys } : {}) });
      restored.newKeys = filled?.newKeys ?? made;
      restored.aside = await moveAside({ directory, ledger, storeFile: undefined }, { keepsLedger: !leavesLedger });
    };
    await loadPostgres(
      databaseUrl,
      storeOf(manifest),
      (table) => readVerified(folder, partOf(manifest, rowsFile(table))),
      {
        ...progressOf(options),
        fillLedger: finish,
      },
    );
    await rm(staging, { recursive: true });
    return { manifest, signedBy: checked.signedBy, leaves: manifest.ledger.leaves, ...restored };
  } catch (error) {
    // Whether a commit without an answer was one is not known: the folder stays and says so.
    if (!isMoving) await rm(staging, { recursive: true, force: true });
    throw error;
  }
}

interface Filling {
  readonly folder: string;
  readonly checked: CheckedBackup;
  readonly given: Given | undefined;
  readonly directory: string;
  readonly origin: string;
  readonly now: Date;
  readonly options: RestoreOptions;
}

/** Fills the ledger under the keys that the directory will have; they are made ready in `staging`. */
async function fillFrom(
  staging: string,
  tables: LedgerTables,
  { folder, checked, given, directory, origin, now, options }: Filling,
): Promise<{ readonly keys: Given; readonly newKeys: Restored['newKeys'] }> {
  const { onProgress, signal } = options;
  const there = path.join(directory, 'keys');
  if (existsSync(there)) await cp(there, path.join(staging, 'keys'), { recursive: true, dereference: true });
  const newKeys = await restoreKeys(staging, { published: checked.keys, now, ...(given ? { given } : {}) });
  await fillLedger({
    directory: staging,
    origin,
    now: () => now,
    shared: sharedLedgerOf(tables),
    published: {
      origin: checked.manifest.ledger.origin ?? origin,
      keys: new Map(Object.entries(checked.keys.published ?? {})),
    },
    leaves: decodeLeaves(readVerified(folder, partOf(checked.manifest, LEAVES_FILE))),
    note: checked.checkpoint,
    onProgress: (done) => onProgress?.({ what: 'ledger', done, unit: 'receipts' }),
    ...(signal ? { signal } : {}),
  });
  const file = path.join(staging, 'keys.json');
  await writeKeysFile(staging, file);
  return { keys: await readKeysFile(file), newKeys };
}

interface Judged {
  readonly folder: string;
  readonly checked: CheckedBackup;
  readonly options: RestoreOptions;
}

/**
 * Refuses to go on from fewer receipts than were published, or other ones, as far as the database, the checkpoint that this node served
 * last and the one that is given can tell.
 */
async function judgeLedgers(url: string, ledger: string, { folder, checked, options }: Judged): Promise<void> {
  const { leaves } = checked.manifest.ledger;
  const there = await inDatabase(url);
  const notes = [
    await readCheckpoint(ledger).catch(() => undefined),
    options.published === undefined ? undefined : await readFile(options.published, 'utf8'),
  ].flatMap((note) => note ?? []);
  const sizes = notes.map((note) => checkpointOf(note).size);
  const inFolder = isOpenLog(ledger) ? (await readHere(ledger, leaves)).leaves : 0;
  if (options.origin === undefined) {
    refuseFork(leaves, Math.max(there, inFolder, ...sizes), '');
    for (const note of notes) await refuseOther(note, folder);
  }
  if (there > 0) throw new StoreError('not-empty', { cause: new Error(`its ledger has ${there} leaves`) });
}

async function inDatabase(url: string): Promise<number> {
  await using tables = await openLedgerTables(url);
  return (await tables?.log.head())?.size ?? 0;
}

async function refuseOther(note: string, folder: string): Promise<void> {
  try {
    for await (const _ of new CheckedLeaves(note).through(decodeLeaves(readPart(folder, LEAVES_FILE))));
  } catch (cause) {
    if (!(cause instanceof LogError)) throw cause;
    throw new CommandError(
      `the ledger of the backup is another one than was published: ${cause.message}.\n--origin NAME begins a log of a new name with the receipts of the backup`,
      { cause },
    );
  }
}

function progressOf({ onProgress, signal }: RestoreOptions) {
  const rowsOf = new Map<string, number>();
  return {
    ...(signal ? { signal } : {}),
    onProgress: ({ table, rows }: { readonly table: string; readonly rows: number }) => {
      rowsOf.set(table, rows);
      onProgress?.({ what: 'store', done: rowsOf.values().reduce((sum, each) => sum + each, 0), unit: 'rows' });
    },
  };
}
