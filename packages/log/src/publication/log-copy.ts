// A log as one stream of leaves, for backups: tiles follow from the leaves, so that they are not copied but made again, and what is
// read is checked against the signed checkpoint on the way. Leaves lie one after another, each after its length (two bytes,
// big-endian), which is the form of an entry bundle, https://c2sp.org/tlog-tiles
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
import { placesIn } from '../tile-log/recover.ts';
import { TileStore } from '../tile-log/tile-store.ts';
import { GrowingTree, type SealedTile } from '../tree/growing-tree.ts';

/** Leaves in order, some at a time. */
export type LeafBatches = AsyncIterable<readonly Uint8Array[]>;

/** What a stream of leaves came to. */
export interface LogDigest {
  readonly leaves: number;
  /** Hex, RFC 6962. */
  readonly root: string;
  /** Of the checkpoint that it was checked against; undefined without one. */
  readonly origin: string | undefined;
  readonly checkpointLeaves: number;
}

/** A segment of the journal may be taken away while it is read: its leaves are in tiles then. */
const TRIES = 5;

/** The signed note of the checkpoint on disk, or undefined. Read it before the leaves: so it never covers more than they are. */
export async function readCheckpoint(directory: string): Promise<string | undefined> {
  const bytes = await readIfPresent(placesIn(directory).checkpoint);
  return bytes === undefined || bytes.length === 0 ? undefined : new TextDecoder().decode(bytes);
}

/**
 * Every leaf that was durable when the call was made, and maybe some that became so since, also while another process writes.
 * Throws LogError `corrupt-journal` or `corrupt-tile`.
 */
export async function* readLeaves(directory: string): AsyncGenerator<readonly Uint8Array[]> {
  for (let next = 0; ; ) {
    const leaves = await leavesFrom(directory, next);
    if (leaves.length === 0) return;
    yield leaves;
    next += leaves.length;
    // A bundle that is not full is the end of the newest segment.
    if (next % TILE_WIDTH !== 0) return;
  }
}

/** The leaves from `next` on, the first of a bundle, to the end of their bundle or segment. */
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
    const segment = path.join(placesIn(directory).journal, String(first).padStart(16, '0'));
    const bytes = await readIfPresent(segment);
    if (bytes) {
      const { batches, end, goodBytes } = decodeSegment(Buffer.from(bytes), first);
      if (end !== 'corrupt') return batches.flat().slice(next - first);
      if (tries === TRIES) throw new LogError('corrupt-journal', `${segment} is damaged at byte ${goodBytes}`);
    } else if (tries === TRIES) {
      // Neither a tile nor a segment: the log ends here, unless its journal goes on behind.
      const later = (await readdir(placesIn(directory).journal).catch(() => [])).find((name) => Number(name) > next);
      if (later !== undefined) throw new LogError('corrupt-tile', `${file} is missing`);
      return [];
    }
  }
}

/**
 * The leaves as they come, after they were taken into the tree; its digest stands when they are at their end. Throws LogError when
 * they do not lead to the checkpoint: `lost-leaves`, `corrupt-checkpoint`.
 */
export class CheckedLeaves {
  readonly #checkpoint: Checkpoint | undefined;
  readonly #tree = GrowingTree.empty();
  #digest: LogDigest | undefined;

  constructor(note: string | undefined) {
    this.#checkpoint = note === undefined ? undefined : checkpointOf(note);
  }

  get digest(): LogDigest {
    if (!this.#digest) throw new Error('the leaves were not read to their end');
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
    if (covered > size) throw new LogError('lost-leaves', `the checkpoint is of ${covered} leaves, there are ${size}`);
    this.#digest = {
      leaves: size,
      root: encodeHex(this.#tree.root()),
      origin: this.#checkpoint?.origin,
      checkpointLeaves: covered,
    };
  }

  #compare(): void {
    if (this.#checkpoint?.size !== this.#tree.size || equalBytes(this.#checkpoint.root, this.#tree.root())) return;
    throw new LogError('corrupt-checkpoint', `the root of ${this.#tree.size} leaves is not that of the checkpoint`);
  }
}

/** The bytes of leaves one after another. */
export async function* encodeLeaves(batches: LeafBatches): AsyncGenerator<Uint8Array> {
  for await (const batch of batches) yield encodeEntries(batch);
}

/** Leaves out of bytes that come in pieces of any size. Throws LogError `lost-leaves` when the last is cut off. */
export async function* decodeLeaves(pieces: AsyncIterable<Uint8Array>): LeafBatches {
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of pieces) {
    const bytes: Buffer = rest.length > 0 ? Buffer.concat([rest, piece]) : Buffer.from(piece);
    const leaves: Uint8Array[] = [];
    let at = 0;
    while (at + 2 <= bytes.length) {
      const end = at + 2 + bytes.readUInt16BE(at);
      if (end > bytes.length) break;
      leaves.push(bytes.subarray(at + 2, end));
      at = end;
    }
    rest = bytes.subarray(at);
    if (leaves.length > 0) yield leaves;
  }
  if (rest.length > 0) throw new LogError('lost-leaves', 'the last leaf is cut off');
}

/**
 * Makes a log of these leaves in a directory where none is, with its checkpoint as it was signed. Durable when it resolves; killed
 * on the way it leaves what must be thrown away. Throws LogError, also when the leaves do not lead to the checkpoint.
 */
export async function writeLog(directory: string, batches: LeafBatches, note: string | undefined): Promise<LogDigest> {
  const places = placesIn(directory);
  await makeDirectory(directory);
  const tiles = new TileStore(directory);
  const checked = new CheckedLeaves(note);
  // The last segment stays in the journal, full or not: a log of tiles alone would pass for one whose journal is lost.
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
      await using journal = await Journal.open(places.journal, []);
      await journal.append(first, tail);
    }
    if (note !== undefined) await replaceFile(places.checkpoint, new TextEncoder().encode(note), { isSynced: true });
    await syncDirectory(directory);
  } catch (cause) {
    throw logErrorFrom(cause, `write the log ${directory}`);
  }
  return checked.digest;
}

/** `cr_` ids of leaves, to look for some among many. */
export function receiptIdsOf(leaves: readonly Uint8Array[]): string[] {
  return leaves.map((leaf) => ledgerReceiptIdOf(leafHash(leaf)));
}

/** Size, root and origin of a saved checkpoint, without its signatures. Throws LogError `corrupt-checkpoint`. */
export function checkpointOf(note: string): Checkpoint {
  const checkpoint = savedCheckpointOf(note)?.checkpoint;
  if (!checkpoint) throw new LogError('corrupt-checkpoint', 'this is not a checkpoint');
  return checkpoint;
}

/** The checkpoint in a file. */
export async function readCheckpointFile(file: string): Promise<Checkpoint> {
  return checkpointOf(await readFile(file, 'utf8'));
}
