// A log that goes on in a database: its leaves are brought there behind those that it has, and the folder is closed.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { decodeEntries, equalBytes, TILE_WIDTH, tilePath } from '@strata/receipts';
import { replaceFile, syncDirectory } from '../files/durable-file.ts';
import { LogError } from '../log-error.ts';
import { placesIn } from '../tile-log/recover.ts';
import { openLog, type TileLog } from '../tile-log/tile-log.ts';
import { TreeEdge } from '../tree/tree-edge.ts';
import { checkSharedLog, type SharedLogReport } from './check-shared-log.ts';
import { growBy } from './shared-copy.ts';
import { type CheckpointKeys, checkHead, signedHead } from './shared-head.ts';
import type { SharedPlace } from './shared-place.ts';

export interface ImportOptions {
  readonly directory: string;
  readonly origin: string;
  readonly keys: CheckpointKeys;
  readonly place: SharedPlace;
  /** Hears of the leaves written so far, and of those read again to compare. */
  readonly onProgress?: (progress: { readonly leaves: number; readonly isChecking: boolean }) => void;
  readonly signal?: AbortSignal;
}

export interface ImportedLog extends SharedLogReport {
  /** Leaves that the database did not have. */
  readonly added: number;
}

/**
 * Brings the log of a directory into a database, where it goes on under the same keys, and closes the directory for good. The
 * database must be empty or hold the beginning of the same log; else, and where another process writes the log, it rejects with
 * LogError (`forked`, `locked` …) and has changed nothing. Then everything is read again and checked.
 *
 * Crash story. All leaves come with one commit. Before it the database is as it was; after it this may be run again, adds nothing and
 * closes the directory. Whoever opens either before that is refused: the database's nodes by a directory that is not closed.
 */
export async function importLog(options: ImportOptions): Promise<ImportedLog> {
  const { directory, origin, keys, place, onProgress, signal } = options;
  const places = placesIn(directory);
  if (!existsSync(places.journal)) throw new LogError('io', `there is no log in ${directory}`);
  await using log = await openLog({ directory, origin, signer: keys.signer });
  await place.turns.begin(signedHead(origin, TreeEdge.empty, keys.signer));
  const added = await place.turns.inTurn(async (head, grow) => {
    let edge = await checkHead(head, origin, keys);
    if (head.size > log.size || !equalBytes(await log.rootAt(head.size), head.root)) {
      throw new LogError(
        'forked',
        `the database holds ${head.size} leaves that are not the beginning of the ${log.size} in ${directory}`,
      );
    }
    while (edge.size < log.size) {
      signal?.throwIfAborted();
      edge = await growBy(await bundleFrom(log, edge.size), { edge, grow, origin, keys });
      onProgress?.({ leaves: edge.size, isChecking: false });
    }
    if (!equalBytes(edge.root(), await log.rootAt(log.size))) {
      throw new LogError('corrupt-tile', `the leaves in ${directory} do not lead to its root`);
    }
    return edge.size - head.size;
  });
  const report = await checkSharedLog({
    origin,
    keys,
    place,
    onProgress: (leaves) => onProgress?.({ leaves, isChecking: true }),
    ...(signal && { signal }),
  });
  await replaceFile(places.moved, new TextEncoder().encode(MOVED), { isSynced: true });
  await syncDirectory(path.dirname(places.moved));
  return { ...report, added };
}

const MOVED = 'This log goes on in a database. To go on here as well would sign two histories.\n';

/** Leaves from an index to the end of its bundle. */
async function bundleFrom(log: TileLog, from: number): Promise<readonly Uint8Array[]> {
  const index = Math.floor(from / TILE_WIDTH);
  const width = Math.min(TILE_WIDTH, log.size - index * TILE_WIDTH);
  const bundle = await log.read(tilePath({ level: 'entries', index, width }));
  const entries = bundle && decodeEntries(bundle);
  if (entries?.length !== width)
    throw new LogError('corrupt-tile', `entry bundle ${index} does not hold ${width} entries`);
  return entries.slice(from % TILE_WIDTH);
}
