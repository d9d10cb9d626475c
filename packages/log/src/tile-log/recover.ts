// Recovers a log from disk: tiles up to the oldest journal segment, then the journal, by the code of normal appends.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { lockFile } from '@strata/db';
import { equalBytes, noteVerifier, openNote } from '@strata/receipts';
import { readCheckpointFile, type SavedCheckpoint, savedCheckpointOf } from '../files/checkpoint-file.ts';
import { LogError, lockedError, logErrorFrom, otherOriginText } from '../log-error.ts';
import { Journal, readSegments } from './journal.ts';
import { Ledger } from './ledger.ts';
import { TileStore } from './tile-store.ts';

/** Paths in a log's directory; tiles are below `tile/`, as they are served. */
export const logPaths = (directory: string) => ({
  lock: path.join(directory, 'lock'),
  journal: path.join(directory, 'journal'),
  checkpoint: path.join(directory, 'checkpoint'),
  tiles: path.join(directory, 'tile'),
  /** Exists once the log has moved to a database. */
  moved: path.join(directory, 'moved'),
});

/** Locks a log against other writers until it is disposed of. Throws LogError: `locked`, with the holder. */
export const lockLog = (directory: string): Disposable => acquireLock(logPaths(directory).lock);

export function acquireLock(file: string): Disposable {
  let lock: Disposable | undefined;
  try {
    lock = lockFile(file);
  } catch (cause) {
    throw logErrorFrom(cause, `acquire the lock ${file}`);
  }
  if (lock) return lock;
  throw lockedError(file);
}

export interface Recovered {
  readonly ledger: Ledger;
  readonly tiles: TileStore;
  readonly journal: Journal;
}

interface RecoverOptions {
  readonly origin: string;
  readonly publicKey: Uint8Array;
  /** The note that is saved outside of the directory. */
  readonly checkpointCopy: string | undefined;
}

/**
 * Crash recovery. A leaf is acknowledged after it is in the journal, so it is found here: tiles are rewritten from the journal's
 * leaves, and the checkpoint is signed again. A torn batch at the end is dropped, since it was never acknowledged. Any other
 * inconsistency is a LogError, and nothing is changed.
 */
export async function recover(
  directory: string,
  { origin, publicKey, checkpointCopy }: RecoverOptions,
): Promise<Recovered> {
  const paths = logPaths(directory);
  if (existsSync(paths.moved)) {
    throw new LogError('moved', `the log in ${directory} has moved to a database: set STRATA_DATABASE_URL to it`);
  }
  const segments = await readSegments(paths.journal);
  if (segments.length === 0 && existsSync(paths.tiles)) {
    throw new LogError('corrupt-journal', `${paths.journal} is missing, but tiles exist`);
  }
  const tiles = new TileStore(directory);
  const ledger = await Ledger.resume(segments[0]?.first ?? 0, tiles);
  for (const { batches } of segments) {
    for (const leaves of batches) ledger.apply(leaves);
  }
  const expected = { ledger, origin, publicKey };
  await checkSaved(paths.checkpoint, await readCheckpointFile(paths.checkpoint), expected);
  const copy = savedCheckpointOf(checkpointCopy ?? '');
  await checkSaved('the checkpoint in the database', copy, expected);
  return { ledger, tiles, journal: await Journal.open(paths.journal, segments) };
}

interface Expected {
  readonly ledger: Ledger;
  readonly origin: string;
  readonly publicKey: Uint8Array;
}

/** A published checkpoint must be of this log and a prefix of it, since it was saved after its leaves were durable. */
async function checkSaved(
  where: string,
  saved: SavedCheckpoint | undefined,
  { ledger, origin, publicKey }: Expected,
): Promise<void> {
  if (!saved) return;
  const { note, checkpoint } = saved;
  const verifier = noteVerifier(origin, publicKey);
  if (!checkpoint) throw new LogError('corrupt-checkpoint', `${where} is not a checkpoint`);
  if (checkpoint.origin !== origin) {
    throw new LogError('wrong-origin', otherOriginText(where, checkpoint.origin, origin));
  }
  const opened = await openNote(note, [verifier]);
  // An earlier key may have signed it; an invalid signature of a known key means altered bytes.
  if (!opened.ok && opened.problem.endsWith('does not verify')) {
    throw new LogError('corrupt-checkpoint', `${where}: ${opened.problem}`);
  }
  if (checkpoint.size > ledger.size) {
    throw new LogError('lost-leaves', `${where} covers ${checkpoint.size} leaves, the disk holds ${ledger.size}`);
  }
  if (!equalBytes(await ledger.rootAt(checkpoint.size), checkpoint.root)) {
    throw new LogError('corrupt-tile', `the tiles do not match the root in ${where}`);
  }
}
