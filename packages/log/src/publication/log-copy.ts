// A log as a stream of leaves, for backups: tiles are derived from the leaves and are not copied. The stream is verified against
// the signed checkpoint as it is read. Each leaf follows its length (two bytes, big-endian), the format of an entry bundle,
// https://c2sp.org/tlog-tiles
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import {
  type Checkpoint,
  decodeEntries,
  encodeEntries,
  encodeHex,
  equalBytes,
  leafHash,
  ledgerReceiptIdOf,
  TILE_WIDTH,
  tilePath,
} from '@strata/receipts';
import { savedCheckpointOf } from '../files/checkpoint-file.ts';
import { makeDirectory, readIfPresent, replaceFile, syncDirectory } from '../files/durable-file.ts';
import { LogError, logErrorFrom } from '../log-error.ts';
import { Journal, SEGMENT_LEAVES } from '../tile-log/journal.ts';
import { decodeSegment } from '../tile-log/journal-record.ts';
import { logPaths } from '../tile-log/recover.ts';
import { TileStore } from '../tile-log/tile-store.ts';
import { GrowingTree, type SealedTile } from '../tree/growing-tree.ts';

/** Leaves in order, in batches. */
export type LeafBatches = AsyncIterable<readonly Uint8Array[]>;

/** The digest of a stream of leaves. */
export interface LogDigest {
  readonly leaves: number;
  /** Hex, RFC 6962. */
  readonly root: string;
  /** Of the checkpoint that it was verified against; undefined without one. */
  readonly origin: string | undefined;
  readonly checkpointLeaves: number;
}

/** Attempts to read leaves: a journal segment may be deleted while it is read, when its leaves are in tiles. */
const TRIES = 5;

/** The checkpoint on disk, a signed note, or undefined. Read it before the leaves, so that it covers no more than them. */
export async function readCheckpoint(directory: string): Promise<string | undefined> {
  const bytes = await readIfPresent(logPaths(directory).checkpoint);
  return bytes === undefined || bytes.length === 0 ? undefined : new TextDecoder().decode(bytes);
}

/**
 * Reads every leaf that was durable at the time of the call, and possibly later ones; another process may append concurrently.
 * Throws LogError `corrupt-journal` or `corrupt-tile`.
 */
export async function* readLeaves(directory: string): AsyncGenerator<readonly Uint8Array[]> {
  for (let next = 0; ; ) {
    const leaves = await leavesFrom(directory, next);
    if (leaves.length === 0) return;
    yield leaves;
    next += leaves.length;
    // A partial bundle is the end of the newest segment.
    if (next % TILE_WIDTH !== 0) return;
  }
}

/** The leaves from `next` on, which begins a bundle, to the end of their bundle or segment. */
async function leavesFrom(directory: string, next: number): Promise<readonly Uint8Array[]> {
  for (let tries = 1; ; tries += 1) {
    const file = path.join(directory, tilePath({ level: 'entries', index: next / TILE_WIDTH, width: TILE_WIDTH }));
    const bundle = await readIfPresent(file);
    if (bundle) {
      const entries = decodeEntries(bundle);
      if (entries?.length === TILE_WIDTH) return entries;
      throw new LogError('corrupt-tile', `${file} does not hold ${TILE_WIDTH} entries`);
    }
    const first = next - (next % SEGMENT_LEAVES);
    const segment = path.join(logPaths(directory).journal, String(first).padStart(16, '0'));
    const bytes = await readIfPresent(segment);
    if (bytes) {
      const { batches, end, goodBytes } = decodeSegment(Buffer.from(bytes), first);
      if (end !== 'corrupt') return batches.flat().slice(next - first);
      if (tries === TRIES) throw new LogError('corrupt-journal', `${segment} is damaged at byte ${goodBytes}`);
    } else if (tries === TRIES) {
      // Neither a tile nor a segment: the end of the log, unless a later segment exists.
      const later = (await readdir(logPaths(directory).journal).catch(() => [])).find((name) => Number(name) > next);
      if (later !== undefined) throw new LogError('corrupt-tile', `${file} is missing`);
      return [];
    }
  }
}

/**
 * Passes leaves through and builds their tree; the digest is available after the last leaf. Throws LogError `lost-leaves` or
 * `corrupt-checkpoint` if they do not match the checkpoint.
 */
export class CheckedLeaves {
  readonly #checkpoint: Checkpoint | undefined;
  readonly #tree = GrowingTree.empty();
  #digest: LogDigest | undefined;

  constructor(note: string | undefined) {
    this.#checkpoint = note === undefined ? undefined : checkpointOf(note);
  }

  get digest(): LogDigest {
    if (!this.#digest) throw new Error('the stream of leaves has not been read to its end');
    return this.#digest;
  }

  async *through(batches: LeafBatches, onTile: (tile: SealedTile) => void = () => {}): LeafBatches {
    this.#compare();
    for await (const batch of batches) {
      for (const leaf of batch) {
        for (const tile of this.#tree.append(leaf).sealed) onTile(tile);
        this.#compare();
      }
      yield batch;
    }
    const size = this.#tree.size;
    const covered = this.#checkpoint?.size ?? 0;
    if (covered > size) throw new LogError('lost-leaves', `the checkpoint covers ${covered} leaves, there are ${size}`);
    this.#digest = {
      leaves: size,
      root: encodeHex(this.#tree.root()),
      origin: this.#checkpoint?.origin,
      checkpointLeaves: covered,
    };
  }

  #compare(): void {
    if (this.#checkpoint?.size !== this.#tree.size || equalBytes(this.#checkpoint.root, this.#tree.root())) return;
    throw new LogError('corrupt-checkpoint', `the root of ${this.#tree.size} leaves differs from the checkpoint`);
  }
}

/** Encodes leaves as a byte stream. */
export async function* encodeLeaves(batches: LeafBatches): AsyncGenerator<Uint8Array> {
  for await (const batch of batches) yield encodeEntries(batch);
}

/** Decodes leaves from chunks of any size. Throws LogError `lost-leaves` if the last leaf is truncated. */
export async function* decodeLeaves(pieces: AsyncIterable<Uint8Array>): LeafBatches {
  let incomplete: Buffer = Buffer.alloc(0);
  for await (const piece of pieces) {
    const bytes: Buffer = incomplete.length > 0 ? Buffer.concat([incomplete, piece]) : Buffer.from(piece);
    const leaves: Uint8Array[] = [];
    let at = 0;
    while (at + 2 <= bytes.length) {
      const end = at + 2 + bytes.readUInt16BE(at);
      if (end > bytes.length) break;
      leaves.push(bytes.subarray(at + 2, end));
      at = end;
    }
    incomplete = bytes.subarray(at);
    if (leaves.length > 0) yield leaves;
  }
  if (incomplete.length > 0) throw new LogError('lost-leaves', 'the last leaf is truncated');
}

/**
 * Writes a log of these leaves, with its signed checkpoint, to a directory without a log. It is durable when this resolves; after a
 * kill the directory must be deleted. Throws LogError, also if the leaves do not match the checkpoint.
 */
export async function writeLog(directory: string, batches: LeafBatches, note: string | undefined): Promise<LogDigest> {
  const paths = logPaths(directory);
  await makeDirectory(directory);
  const tiles = new TileStore(directory);
  const checked = new CheckedLeaves(note);
  // The last segment stays in the journal, even if it is full: tiles without a journal indicate a lost journal.
  let tail: Uint8Array[] = [];
  let first = 0;
  for await (const batch of checked.through(batches, (tile) => tiles.seal(tile))) {
    for (const leaf of batch) {
      if (tail.length === SEGMENT_LEAVES) {
        await tiles.flush();
        first += tail.length;
        tail = [];
      }
      tail.push(leaf);
    }
  }
  await tiles.flush();
  try {
    if (tail.length > 0) {
      await using journal = await Journal.open(paths.journal, []);
      await journal.append(first, tail);
    }
    if (note !== undefined) await replaceFile(paths.checkpoint, new TextEncoder().encode(note), { isSynced: true });
    await syncDirectory(directory);
  } catch (cause) {
    throw logErrorFrom(cause, `write the log ${directory}`);
  }
  return checked.digest;
}

/** The `cr_` ids of leaves. */
export function receiptIdsOf(leaves: readonly Uint8Array[]): string[] {
  return leaves.map((leaf) => ledgerReceiptIdOf(leafHash(leaf)));
}

/** Size, root and origin of a saved checkpoint; signatures are not verified. Throws LogError `corrupt-checkpoint`. */
export function checkpointOf(note: string): Checkpoint {
  const checkpoint = savedCheckpointOf(note)?.checkpoint;
  if (!checkpoint) throw new LogError('corrupt-checkpoint', 'the text is not a checkpoint');
  return checkpoint;
}

/** The checkpoint in a file. */
export async function readCheckpointFile(file: string): Promise<Checkpoint> {
  return checkpointOf(await readFile(file, 'utf8'));
}
