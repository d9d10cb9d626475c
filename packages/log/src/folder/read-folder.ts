// Reads the ledger folder of earlier versions: full entry bundles, and behind them a journal of the newest leaves. Nothing writes it.
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { readIfPresent, systemCode } from '@strata/files';
import { decodeEntries, TILE_WIDTH, tilePath } from '@strata/receipts';
import { LogError } from '../log-error.ts';
import type { LeafBatches } from '../publication/leaf-stream.ts';

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

// Decodes the journal of earlier versions, which has a record for each batch of leaves. Big-endian:
// magic (4), payload bytes (4), first leaf index (8), leaves (4), CRC-32 of all that and the payload (4), payload.
const MAGIC = 0x53_4c_72_31; // "SLr1"
const HEADER_BYTES = 24;
const CRC_AT = 20;

/** The decoded content of a segment. */
interface DecodedSegment {
  /** Batches in order; their leaves are views of the bytes. */
  readonly batches: readonly (readonly Uint8Array[])[];
  readonly leaves: number;
  /** End of the last valid record. */
  readonly goodBytes: number;
  /**
   * `torn`: followed by bytes of an incomplete record, which was never acknowledged, since records are synced one by one.
   * `corrupt`: a valid record follows the invalid bytes, so these had been durable.
   */
  readonly end: 'clean' | 'torn' | 'corrupt';
}

function decodeSegment(bytes: Buffer, firstIndex: number): DecodedSegment {
  const batches: Uint8Array[][] = [];
  let next = firstIndex;
  let at = 0;
  while (at < bytes.length) {
    const batch = decodeRecord(bytes, at, (index) => index === next);
    if (!batch) return { batches, leaves: next - firstIndex, goodBytes: at, end: endAfter(bytes, at, next) };
    batches.push(batch.leaves);
    next += batch.leaves.length;
    at = batch.end;
  }
  return { batches, leaves: next - firstIndex, goodBytes: at, end: 'clean' };
}

function endAfter(bytes: Buffer, bad: number, expected: number): 'torn' | 'corrupt' {
  const magic = Buffer.alloc(4);
  magic.writeUInt32BE(MAGIC);
  for (let at = bytes.indexOf(magic, bad + 1); at >= 0; at = bytes.indexOf(magic, at + 1)) {
    if (decodeRecord(bytes, at, (index) => index > expected)) return 'corrupt';
  }
  return 'torn';
}

function decodeRecord(
  bytes: Buffer,
  at: number,
  isExpected: (firstIndex: number) => boolean,
): { leaves: Uint8Array[]; end: number } | undefined {
  if (at + HEADER_BYTES > bytes.length || bytes.readUInt32BE(at) !== MAGIC) return undefined;
  const end = at + HEADER_BYTES + bytes.readUInt32BE(at + 4);
  if (end > bytes.length || !isExpected(Number(bytes.readBigUInt64BE(at + 8)))) return undefined;
  const record = bytes.subarray(at, end);
  if (checksum(record, record.length) !== record.readUInt32BE(CRC_AT)) return undefined;
  const leaves = decodeEntries(record.subarray(HEADER_BYTES));
  return leaves?.length === record.readUInt32BE(16) ? { leaves, end } : undefined;
}

function checksum(record: Buffer, end: number): number {
  return crc32(record.subarray(HEADER_BYTES, end), crc32(record.subarray(0, CRC_AT)));
}
