// Reads a complete log from disk and verifies it; for tests and auditors.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import {
  checkpointOfNote,
  decodeEntries,
  equalBytes,
  type NoteVerifier,
  openNote,
  TILE_WIDTH,
  tilePath,
} from '@strata/receipts';
import { readIfPresent } from '../files/durable-file.ts';
import { LogError } from '../log-error.ts';
import { GrowingTree, type SealedTile } from '../tree/growing-tree.ts';
import { readSegments } from './journal.ts';
import { logPaths } from './recover.ts';

/** The result of a successful check. */
export interface LogReport {
  /** Durable leaves; the checkpoint on disk may cover fewer. */
  readonly size: number;
  readonly root: Uint8Array;
  readonly checkpointSize: number;
  readonly fullTiles: number;
}

/**
 * Verifies every entry bundle, tile, journal record and the checkpoint of a log that has no writer, and the checkpoint's
 * signature if verifiers are given. Changes nothing. Throws LogError for the first inconsistency.
 */
export async function checkLog(directory: string, verifiers?: readonly NoteVerifier[]): Promise<LogReport> {
  const paths = logPaths(directory);
  const segments = await readSegments(paths.journal);
  const covered = segments[0]?.first ?? 0;
  const checkpoint = await readCheckpoint(paths.checkpoint, verifiers);
  const tree = GrowingTree.empty();
  let fullTiles = 0;
  let rootAtCheckpoint = tree.root();
  const add = async (leaf: Uint8Array): Promise<void> => {
    for (const tile of tree.append(leaf).sealed) {
      await checkTile(directory, tile, { isRequired: tree.size <= covered });
      fullTiles++;
    }
    if (tree.size === checkpoint?.size) rootAtCheckpoint = tree.root();
  };
  for (let index = 0; index * TILE_WIDTH < covered; index++) {
    const file = path.join(directory, tilePath({ level: 'entries', index, width: TILE_WIDTH }));
    const entries = decodeEntries((await readIfPresent(file)) ?? new Uint8Array());
    if (entries?.length !== TILE_WIDTH)
      throw new LogError('corrupt-tile', `${file} does not hold ${TILE_WIDTH} entries`);
    for (const entry of entries) await add(entry);
  }
  for (const { batches } of segments) {
    for (const leaf of batches.flat()) await add(leaf);
  }
  if (checkpoint && checkpoint.size > tree.size) {
    throw new LogError('lost-leaves', `the checkpoint covers ${checkpoint.size} leaves, the disk holds ${tree.size}`);
  }
  if (checkpoint && !equalBytes(checkpoint.root, rootAtCheckpoint)) {
    throw new LogError('corrupt-checkpoint', `the root of ${checkpoint.size} leaves differs from the checkpoint`);
  }
  return { size: tree.size, root: tree.root(), checkpointSize: checkpoint?.size ?? 0, fullTiles };
}

async function checkTile(directory: string, tile: SealedTile, { isRequired }: { isRequired: boolean }): Promise<void> {
  const file = path.join(directory, tilePath(tile.address));
  const stored = await readIfPresent(file);
  if (stored === undefined && !isRequired) return;
  if (!stored || !equalBytes(stored, tile.bytes)) {
    throw new LogError('corrupt-tile', `${file} ${stored ? 'does not match its leaves' : 'is missing'}`);
  }
}

async function readCheckpoint(file: string, verifiers: readonly NoteVerifier[] | undefined) {
  const note = await readFile(file, 'utf8');
  const checkpoint = checkpointOfNote(note);
  if (!checkpoint) throw new LogError('corrupt-checkpoint', `${file} is not a checkpoint`);
  const opened = verifiers && (await openNote(note, verifiers));
  if (opened && !opened.ok) throw new LogError('corrupt-checkpoint', `${file}: ${opened.problem}`);
  return checkpoint;
}
