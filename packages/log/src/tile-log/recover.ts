// Brings a log back from disk: tiles up to the oldest journal segment, then the journal, through the normal path.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { lockFile } from '@strata/db';
import { equalBytes, noteVerifier, openNote } from '@strata/receipts';
import { readCheckpointFile, type SavedCheckpoint, savedCheckpointOf } from '../files/checkpoint-file.ts';
import { LogError, lockedError, logErrorFrom, otherOriginText } from '../log-error.ts';
import { Journal, readSegments } from './journal.ts';
import { Ledger } from './ledger.ts';
import { TileStore } from './tile-store.ts';

/** Where the parts of a log lie in its directory; tiles lie under `tile/`, as they are served. */
export const placesIn = (directory: string) => ({
  lock: path.join(directory, 'lock'),
  journal: path.join(directory, 'journal'),
  checkpoint: path.join(directory, 'checkpoint'),
  tiles: path.join(directory, 'tile'),
  /** There once the log goes on elsewhere. */
  moved: path.join(directory, 'moved'),
});

/** Keeps other writers away until it is disposed of. Throws LogError: `locked`, with who holds it. */
export const lockLog = (directory: string): Disposable => takeLock(placesIn(directory).lock);

/** The same with a lock file of another path. */
export function takeLock(file: string): Disposable {
  let lock: Disposable | undefined;
  try {
    lock = lockFile(file);
  } catch (cause) {
    throw logErrorFrom(cause, `take the lock ${file}`);
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
  /** The note that is kept outside of the directory. */
  readonly checkpointCopy: string | undefined;
}

/**
 * Crash story. A leaf is acknowledged after the journal has it, so it is found here whatever else was lost: tiles
 * are written again from the journal's leaves, the checkpoint is signed again. The end of a batch cut off in writing
 * is dropped: it was never acknowledged. Everything else that does not add up is a LogError, and nothing is changed.
 */
export async function recover(
  directory: string,
  { origin, publicKey, checkpointCopy }: RecoverOptions,
): Promise<Recovered> {
  const places = placesIn(directory);
  if (existsSync(places.moved)) {
    throw new LogError('moved', `the log in ${directory} goes on in a database: set STRATA_DATABASE_URL to it`);
  }
  const segments = await readSegments(places.journal);
  if (segments.length === 0 && existsSync(places.tiles)) {
    throw new LogError('corrupt-journal', `${places.journal} is missing, but tiles exist`);
  }
  const tiles = new TileStore(directory);
  const ledger = await Ledger.resume(segments[0]?.first ?? 0, tiles);
  for (const { batches } of segments) {
    for (const leaves of batches) ledger.apply(leaves);
  }
  const expected = { ledger, origin, publicKey };
  await checkSaved(places.checkpoint, await readCheckpointFile(places.checkpoint), expected);
  const copy = savedCheckpointOf(checkpointCopy ?? '');
  await checkSaved('the checkpoint in the database', copy, expected);
  return { ledger, tiles, journal: await Journal.open(places.journal, segments) };
}

interface Expected {
  readonly ledger: Ledger;
  readonly origin: string;
  readonly publicKey: Uint8Array;
}

/** A checkpoint that was served must be of this log and a prefix of it. It was saved after its leaves were durable. */
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
  // An earlier key may have signed it; a known key's bad signature means altered bytes.
  if (!opened.ok && opened.problem.endsWith('does not verify')) {
    throw new LogError('corrupt-checkpoint', `${where}: ${opened.problem}`);
  }
  if (checkpoint.size > ledger.size) {
    throw new LogError('lost-leaves', `${where} is of ${checkpoint.size} leaves, the disk holds ${ledger.size}`);
  }
  if (!equalBytes(await ledger.rootAt(checkpoint.size), checkpoint.root)) {
    throw new LogError('corrupt-tile', `the tiles do not lead to the root in ${where}`);
  }
}
