// Moves a log from a directory to a database.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { decodeEntries, equalBytes, TILE_WIDTH, tilePath } from '@strata/receipts';
import { replaceFile, syncDirectory } from '../files/durable-file.ts';
import { LogError } from '../log-error.ts';
import { logPaths } from '../tile-log/recover.ts';
import { openLog, type TileLog } from '../tile-log/tile-log.ts';
import { TreeEdge } from '../tree/tree-edge.ts';
import { checkSharedLog, type SharedLogReport } from './check-shared-log.ts';
import { growBy } from './shared-copy.ts';
import { type CheckpointKeys, checkHead, signedHead } from './shared-head.ts';
import type { SharedStorage } from './shared-storage.ts';

export interface ImportOptions {
  readonly directory: string;
  readonly origin: string;
  readonly keys: CheckpointKeys;
  readonly storage: SharedStorage;
  /** Reports the leaves written so far, then the leaves checked. */
  readonly onProgress?: (progress: { readonly leaves: number; readonly isChecking: boolean }) => void;
  readonly signal?: AbortSignal;
}

export interface ImportedLog extends SharedLogReport {
  /** Leaves added to the database. */
  readonly added: number;
}

/**
 * Moves the log of a directory to a database, with the same keys, and closes the directory permanently. The database must be empty
 * or hold a prefix of the same log; otherwise, or if another process writes the log, it rejects with LogError (`forked`,
 * `locked` …) and changes nothing. Afterwards everything is read back and verified.
 *
 * Crash safety: all leaves are added in one commit. Before it the database is unchanged; after it a second run adds nothing and
 * closes the directory. In between, nodes of the database refuse to start, since the directory is not closed.
 */
export async function importLog(options: ImportOptions): Promise<ImportedLog> {
  const { directory, origin, keys, storage, onProgress, signal } = options;
  const paths = logPaths(directory);
  if (!existsSync(paths.journal)) throw new LogError('io', `there is no log in ${directory}`);
  await using log = await openLog({ directory, origin, signer: keys.signer });
  await storage.heads.begin(signedHead(origin, TreeEdge.empty, keys.signer));
  const added = await storage.heads.withHead(async (head, grow) => {
    let edge = await checkHead(head, origin, keys);
    if (head.size > log.size || !equalBytes(await log.rootAt(head.size), head.root)) {
      throw new LogError(
        'forked',
        `the ${head.size} leaves in the database are not a prefix of the ${log.size} leaves in ${directory}`,
      );
    }
    while (edge.size < log.size) {
      signal?.throwIfAborted();
      edge = await growBy(await bundleFrom(log, edge.size), { edge, grow, origin, keys });
      onProgress?.({ leaves: edge.size, isChecking: false });
    }
    if (!equalBytes(edge.root(), await log.rootAt(log.size))) {
      throw new LogError('corrupt-tile', `the leaves in ${directory} do not match its root`);
    }
    return edge.size - head.size;
  });
  const report = await checkSharedLog({
    origin,
    keys,
    storage,
    onProgress: (leaves) => onProgress?.({ leaves, isChecking: true }),
    ...(signal && { signal }),
  });
  await replaceFile(paths.moved, new TextEncoder().encode(MOVED), { isSynced: true });
  await syncDirectory(path.dirname(paths.moved));
  return { ...report, added };
}

const MOVED = 'This log has moved to a database. Writing to it here as well would fork its history.\n';

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
