// Reads the ledger folder of earlier versions: full entry bundles, and behind them a journal of the newest leaves. Nothing writes it.
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { readIfPresent, systemCode } from '@strata/files';
import { decodeEntries, TILE_WIDTH, tilePath } from '@strata/receipts';
import { LogError } from '../log-error.ts';
import type { LeafBatches } from '../publication/leaf-stream.ts';
import { decodeSegment } from './journal-record.ts';

/** Leaves of a full segment file. Its bundles were durable before it was deleted. */
const SEGMENT_LEAVES = 4096;

const JOURNAL = 'journal';
const TILES = 'tile';
/** Exists once the log has moved to a database, or was imported. */
export const MOVED = 'moved';

/** Whether the directory has a log of an earlier version that was not moved to a database. */
export const hasFolderLog = (directory: string): boolean =>
  [JOURNAL, TILES].some((name) => existsSync(path.join(directory, name))) && !existsSync(path.join(directory, MOVED));

/**
 * Every leaf of a log that no process writes. A torn record at the end was never acknowledged and is left out. Throws LogError
 * `corrupt-journal` or `corrupt-tile` for any other gap.
 */
export async function* readFolder(directory: string): LeafBatches {
  const segments = await listSegments(path.join(directory, JOURNAL));
  if (segments.length === 0 && existsSync(path.join(directory, TILES)))
    throw new LogError('corrupt-journal', `${path.join(directory, JOURNAL)} is missing, but tiles exist`);
  let next = 0;
  let file = bundleOf(directory, next);
  for (let bundle = await readIfPresent(file); bundle; bundle = await readIfPresent(file)) {
    const entries = decodeEntries(bundle);
    if (entries?.length !== TILE_WIDTH)
      throw new LogError('corrupt-tile', `${file} does not hold ${TILE_WIDTH} entries`);
    yield entries;
    next += TILE_WIDTH;
    file = bundleOf(directory, next);
  }
  const newest = segments.at(-1) ?? 0;
  for (let first = next - (next % SEGMENT_LEAVES); first <= newest && segments.length > 0; first += SEGMENT_LEAVES) {
    const segment = path.join(directory, JOURNAL, String(first).padStart(16, '0'));
    if (!segments.includes(first)) throw new LogError('corrupt-tile', `${file} is missing`);
    const { batches, leaves, goodBytes, end } = decodeSegment(await readFile(segment), first);
    if (end === 'corrupt' || leaves > SEGMENT_LEAVES || (first < newest && leaves < SEGMENT_LEAVES))
      throw new LogError('corrupt-journal', `${segment} is damaged at byte ${goodBytes}`);
    yield batches.flat().slice(next - first);
    next = Math.max(next, first + leaves);
  }
}

const bundleOf = (directory: string, next: number): string =>
  path.join(directory, tilePath({ level: 'entries', index: next / TILE_WIDTH, width: TILE_WIDTH }));

/** First leaf indexes of the segment files, in order. */
async function listSegments(directory: string): Promise<number[]> {
  try {
    const names = await readdir(directory);
    return names
      .filter((name) => /^\d{16}$/.test(name))
      .map(Number)
      .sort((a, b) => a - b);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}
