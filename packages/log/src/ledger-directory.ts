// The ledger of one process, in the folder `ledger` of its data directory: a SQLite file, a lock, and the newest checkpoint. A log that
// an earlier version left in the folder is imported, and a log that moves to PostgreSQL leaves the folder closed.
import { existsSync, readFileSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import path from 'node:path';
import { makeDirectory, replaceFile, syncDirectory } from '@strata/files';
import { type CheckpointCopy, readCheckpointFile } from './files/checkpoint-file.ts';
import { lockLog } from './files/log-lock.ts';
import { hasFolderLog, MOVED, readFolder } from './folder/read-folder.ts';
import { LogError, logErrorFrom } from './log-error.ts';
import type { LeafBatches } from './publication/leaf-stream.ts';
import { checkLog } from './rows/check-log.ts';
import { type CopiedLog, type CopyOptions, copyLeaves, readLeaves } from './rows/copy-leaves.ts';
import type { DatabaseLog } from './rows/database-log.ts';
import { type CheckpointKeys, openCheckpoint } from './rows/head.ts';
import { openLedgerFile } from './rows/ledger-databases.ts';
import type { LedgerTable, LedgerTables } from './rows/ledger-tables.ts';
import { openLog, readOwnSaved } from './rows/open-log.ts';

/** The folder of the ledger in a data directory. */
export const ledgerIn = (dataDirectory: string): string => path.join(dataDirectory, 'ledger');

const ROWS = 'ledger.db';
/** The name of the file once its log has moved to PostgreSQL. */
export const movedRowsIn = (directory: string): string => path.join(directory, 'ledger.db.moved');

export const rowsIn = (directory: string): string => path.join(directory, ROWS);
export const checkpointIn = (directory: string): string => path.join(directory, 'checkpoint');

/** Whether the directory has a log that was not moved to PostgreSQL. */
export const isLedgerDirectory = (directory: string): boolean =>
  existsSync(rowsIn(directory)) || hasFolderLog(directory);

export interface DirectoryOptions {
  readonly directory: string;
  readonly origin: string;
  readonly keys: CheckpointKeys;
  /** Also stores the newest checkpoint, so that a directory that lost leaves and its own checkpoint is not opened. */
  readonly checkpointCopy?: CheckpointCopy | undefined;
  /** Of an import. */
  readonly onProgress?: CopyOptions['onProgress'];
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens or creates the log of a directory, and locks it against other writers. Rejects with LogError, or with the error of reading the
 * checkpoint copy. Disposing of the log closes everything.
 *
 * Crash safety of an import: all leaves are committed together. Before it the file of rows is empty; after it a second run adds nothing
 * and closes the old folder (`moved`). In between no leaf is appended to either.
 */
export async function openDirectoryLog(options: DirectoryOptions): Promise<DatabaseLog> {
  const { directory, origin, keys, checkpointCopy } = options;
  const checkpointFile = checkpointIn(directory);
  await using stack = new AsyncDisposableStack();
  await makeDirectory(directory).catch((cause: unknown) => {
    throw logErrorFrom(cause, `open the log ${directory}`);
  });
  stack.use(lockLog(directory));
  refuseMoved(directory);
  if (hasFolderLog(directory)) {
    // Closing the file writes its log, which is as large as all leaves, into it, and removes the log.
    await using imported = await openLedgerFile(rowsIn(directory));
    await importFolder({ ...options, table: imported.log });
  }
  const { log: table } = stack.use(await openLedgerFile(rowsIn(directory)));
  const log = stack.use(await openLog({ origin, keys, table, checkpointFile, checkpointCopy }));
  // The keys may have been rotated since the head was signed.
  await log.resign();
  const owned = stack.move();
  return Object.assign(log, { [Symbol.asyncDispose]: () => owned.disposeAsync() });
}

/** Rejects if the directory holds or held a log, but has no key of it: a new key would not be one of that log. */
export async function refuseNewKey(directory: string): Promise<void> {
  refuseMoved(directory);
  await using reader = await readDirectoryLog(directory).catch((cause: unknown) => {
    throw logErrorFrom(cause, `open the log ${directory}`);
  });
  if (reader.note === undefined && !hasFolderLog(directory)) return;
  throw new LogError(
    'wrong-key',
    `${directory} holds a log, but no key of it exists: restore the keys folder of the log`,
  );
}

function refuseMoved(directory: string): void {
  if (isLedgerDirectory(directory)) return;
  const text = movedTextIn(directory);
  const isMoved = existsSync(movedRowsIn(directory)) || (text !== undefined && text !== IMPORTED_TEXT);
  if (isMoved)
    throw new LogError('moved', `the log in ${directory} has moved to a database: set STRATA_DATABASE_URL to it`);
  if (text !== undefined)
    throw new LogError(
      'lost-leaves',
      `${rowsIn(directory)} is missing: it has the leaves of this log; restore a backup`,
    );
}

export interface MoveOptions extends DirectoryOptions {
  /** The ledger of several nodes; without it, a log of an earlier version is imported into the directory's own file. */
  readonly to?: LedgerTable | undefined;
}

/**
 * Moves the log of a directory to a database, with the same keys, and closes the directory permanently. The database must be empty
 * or hold a prefix of the same log; otherwise, or if another process writes the log, it rejects with LogError (`forked`,
 * `locked` …) and changes nothing. Afterwards everything is read back and verified.
 *
 * Crash safety: all leaves are added in one commit. Before it the database is unchanged; after it a second run adds nothing and
 * closes the directory. In between, nodes of the database refuse to start, since the directory is not closed.
 */
export async function moveLog(options: MoveOptions): Promise<CopiedLog> {
  const { directory, origin, keys, to: table, signal } = options;
  refuseMoved(directory);
  if (!isLedgerDirectory(directory)) throw new LogError('io', `there is no log in ${directory}`);
  using _lock = lockLog(directory);
  if (table && !existsSync(rowsIn(directory))) return await importFolder({ ...options, table });
  await using stack = new AsyncDisposableStack();
  const { log: own } = stack.use(await openLedgerFile(rowsIn(directory)));
  if (hasFolderLog(directory)) {
    const imported = await importFolder({ ...options, to: undefined, table: own });
    if (!table) return imported;
  }
  if (!table) return { ...(await checkLog({ origin, keys, table: own, signal })), added: 0 };
  const head = (await own.head()) ?? { size: 0, note: undefined };
  const notes = await savedNotes(options);
  if (head.note !== undefined) notes.push(head.note);
  const moved = await copyLeaves({ ...options, table, notes, leaves: readLeaves(own, head) });
  // Closing the last connection writes everything to the file and removes its log.
  await stack.disposeAsync();
  await rename(rowsIn(directory), movedRowsIn(directory));
  await syncDirectory(directory);
  return moved;
}

const MOVED_TEXT = 'This log has moved to a database. Writing to it here as well would fork its history.\n';
const IMPORTED_TEXT =
  'This log was imported into ledger.db. Writing to journal and tile as well would fork its history.\n';

function movedTextIn(directory: string): string | undefined {
  const file = path.join(directory, MOVED);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/** Imports the log of an earlier version, which stays in the folder, and marks the folder, so that no version appends to it again. */
async function importFolder(options: MoveOptions & { readonly table: LedgerTable }): Promise<CopiedLog> {
  const { directory } = options;
  const notes = await savedNotes(options);
  const imported = await copyLeaves({ ...options, notes, leaves: readFolder(directory) });
  const text = options.to ? MOVED_TEXT : IMPORTED_TEXT;
  await replaceFile(path.join(directory, MOVED), text, { sync: 'all' });
  return imported;
}

/** The published checkpoints, which a known key must have signed. */
export async function savedNotes({ directory, origin, keys, checkpointCopy }: DirectoryOptions): Promise<string[]> {
  const saved = await readOwnSaved({ origin, checkpointFile: checkpointIn(directory), checkpointCopy });
  for (const { note } of saved) await openCheckpoint(note, origin, keys);
  return saved.map(({ note }) => note);
}

/** The log of a directory, for reading beside its service. */
export interface DirectoryReader extends AsyncDisposable {
  /** The newest checkpoint, read before the leaves; undefined for a log without one. */
  readonly note: string | undefined;
  leaves(): LeafBatches;
  /** Undefined for a log of an earlier version that no start has imported. */
  readonly tables: LedgerTables | undefined;
}

/** Rejects with LogError. A directory without a log, or with one that has moved, has no leaves. */
export async function readDirectoryLog(directory: string): Promise<DirectoryReader> {
  const saved = (await readCheckpointFile(checkpointIn(directory)))?.note;
  const disposeNothing = { [Symbol.asyncDispose]: async () => {} };
  if (hasFolderLog(directory))
    return { note: saved, leaves: () => readFolder(directory), tables: undefined, ...disposeNothing };
  if (!existsSync(rowsIn(directory))) return { note: saved, leaves: nothing, tables: undefined, ...disposeNothing };
  const tables = await openLedgerFile(rowsIn(directory));
  try {
    const head = (await tables.log.head()) ?? { size: 0, note: saved };
    return {
      ...{ note: head.note, tables, leaves: () => readLeaves(tables.log, head) },
      [Symbol.asyncDispose]: () => tables[Symbol.asyncDispose](),
    };
  } catch (error) {
    await tables[Symbol.asyncDispose]();
    throw error;
  }
}

async function* nothing(): LeafBatches {}

/** Creates the file of rows in an empty directory, for a restore. */
export async function createDirectoryLog(directory: string): Promise<LedgerTables & AsyncDisposable> {
  await makeDirectory(directory);
  return openLedgerFile(rowsIn(directory));
}
