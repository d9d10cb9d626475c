// A log as a stream of leaves, for backups: tiles are derived from the leaves and are not copied. The stream is verified against
// the signed checkpoint as it is read. Each leaf follows its length (two bytes, big-endian), the format of an entry bundle,
// https://c2sp.org/tlog-tiles
import { readFile } from 'node:fs/promises';
import { type Checkpoint, encodeEntries, encodeHex, equalBytes, leafHash, ledgerReceiptIdOf } from '@strata/receipts';
import { savedCheckpointOf } from '../files/checkpoint-file.ts';
import { LogError } from '../log-error.ts';
import { TreeEdge } from '../rows/tree-edge.ts';

/** Leaves in order, in batches. */
export type LeafBatches = AsyncIterable<readonly Uint8Array[]>;

/** The digest of a stream of leaves. */
interface LogDigest {
  readonly leaves: number;
  /** Hex, RFC 6962. */
  readonly root: string;
  /** Of the checkpoint that it was verified against; undefined without one. */
  readonly origin: string | undefined;
  readonly checkpointLeaves: number;
}

/**
 * Passes leaves through and builds their tree; the digest is available after the last leaf. Throws LogError `lost-leaves` or
 * `corrupt-checkpoint` if they do not match the checkpoint.
 */
export class CheckedLeaves {
  readonly #checkpoint: Checkpoint | undefined;
  #edge = TreeEdge.empty;
  #digest: LogDigest | undefined;

  constructor(note: string | undefined) {
    this.#checkpoint = note === undefined ? undefined : checkpointOf(note);
  }

  get digest(): LogDigest {
    if (!this.#digest) throw new Error('the stream of leaves has not been read to its end');
    return this.#digest;
  }

  async *through(batches: LeafBatches): LeafBatches {
    this.#append([]);
    for await (const batch of batches) {
      const covered = Math.max(0, (this.#checkpoint?.size ?? 0) - this.#edge.size);
      this.#append(batch.slice(0, covered));
      this.#append(batch.slice(covered));
      yield batch;
    }
    const { size } = this.#edge;
    const covered = this.#checkpoint?.size ?? 0;
    if (covered > size) throw new LogError('lost-leaves', `the checkpoint covers ${covered} leaves, there are ${size}`);
    this.#digest = {
      leaves: size,
      root: encodeHex(this.#edge.root()),
      origin: this.#checkpoint?.origin,
      checkpointLeaves: covered,
    };
  }

  #append(leaves: readonly Uint8Array[]): void {
    this.#edge = this.#edge.grow(leaves.map((leaf) => leafHash(leaf))).edge;
    if (this.#checkpoint?.size !== this.#edge.size || equalBytes(this.#checkpoint.root, this.#edge.root())) return;
    throw new LogError('corrupt-checkpoint', `the root of ${this.#edge.size} leaves differs from the checkpoint`);
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

/** `checkpointOf` the text of a file. */
export async function readCheckpoint(file: string): Promise<Checkpoint> {
  return checkpointOf(await readFile(file, 'utf8'));
}
