// The right edge of a tree as the hashes of its perfect subtrees: the minimal state to append from. Pure.
import { hash as digestOf } from 'node:crypto';
import { EMPTY_ROOT, foldHashes, HASH_BYTES, nodeHash, TILE_HEIGHT } from '@strata/receipts';

/** A subtree over 256^level leaves that is complete. */
export interface SealedSubtree {
  /** Tile level, from 1. */
  readonly level: number;
  readonly index: number;
  readonly hash: Uint8Array;
}

/** In native code. */
export const sha256 = (bytes: Uint8Array): Uint8Array => digestOf('sha256', bytes, 'buffer');

export class TreeEdge {
  readonly size: number;
  /** Left to right, one for each 1 bit of the size, the largest first. */
  readonly #hashes: readonly Uint8Array[];

  private constructor(size: number, hashes: readonly Uint8Array[]) {
    this.size = size;
    this.#hashes = hashes;
  }

  static readonly empty = new TreeEdge(0, []);

  /** Parses concatenated hashes; undefined if their number does not fit the size. */
  static of(size: number, bytes: Uint8Array): TreeEdge | undefined {
    if (!Number.isSafeInteger(size) || size < 0 || bytes.length !== HASH_BYTES * onesIn(size)) return undefined;
    const count = bytes.length / HASH_BYTES;
    return new TreeEdge(
      size,
      Array.from({ length: count }, (_, at) => bytes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES)),
    );
  }

  /** Appends leaves; returns the new edge and the subtrees that they complete. */
  grow(leafHashes: Iterable<Uint8Array>): { readonly edge: TreeEdge; readonly sealed: readonly SealedSubtree[] } {
    const hashes = [...this.#hashes];
    const sealed: SealedSubtree[] = [];
    let size = this.size;
    for (const leafHash of leafHashes) {
      let hash = leafHash;
      let height = 0;
      // Like a binary increment: each carried 1 bit is a subtree that gets its right half.
      for (let ones = size; ones % 2 === 1; ones = (ones - 1) / 2) {
        hash = nodeHash(hashes.pop() ?? EMPTY_ROOT, hash, sha256);
        height++;
        if (height % TILE_HEIGHT === 0) {
          sealed.push({ level: height / TILE_HEIGHT, index: (size + 1) / 2 ** height - 1, hash });
        }
      }
      hashes.push(hash);
      size++;
    }
    return { edge: new TreeEdge(size, hashes), sealed };
  }

  /** Root hash, RFC 6962 section 2.1. */
  root(): Uint8Array {
    return this.size === 0 ? EMPTY_ROOT : foldHashes(this.#hashes, sha256);
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.#hashes);
  }
}

function onesIn(size: number): number {
  let ones = 0;
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) ones += rest % 2;
  return ones;
}
