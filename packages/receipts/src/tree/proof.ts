// Builds roots and proofs (RFC 6962 section 2.1) from the hashes of perfect subtrees, for any storage.
import { EMPTY_ROOT, nodeHash } from './merkle.ts';

/** A perfect subtree: the 2^level leaves from index * 2^level. */
interface Subtree {
  readonly level: number;
  readonly index: number;
}

/** Returns the hash of a perfect subtree that is completely inside the tree. */
export type HashReader = (level: number, index: number) => Uint8Array | Promise<Uint8Array>;

/** Root hash of the tree of the first `size` leaves. */
export async function treeRoot(read: HashReader, size: number): Promise<Uint8Array> {
  return size === 0 ? EMPTY_ROOT : rangeHash(read, 0, size);
}

/** RFC 6962 section 2.1.1: hashes from the leaf's sibling up to the root's child. Throws RangeError outside the tree. */
export async function inclusionProof(read: HashReader, index: number, size: number): Promise<Uint8Array[]> {
  if (!Number.isSafeInteger(index) || index < 0 || index >= size) {
    throw new RangeError(`leaf ${index} is not in a tree of ${size}`);
  }
  let low = 0;
  let high = size;
  const siblings: Promise<Uint8Array>[] = [];
  while (high - low > 1) {
    const middle = low + largestPowerBelow(high - low);
    if (index < middle) {
      siblings.push(rangeHash(read, middle, high));
      high = middle;
    } else {
      siblings.push(rangeHash(read, low, middle));
      low = middle;
    }
  }
  return (await Promise.all(siblings)).reverse();
}

/** RFC 6962 section 2.1.2; empty if the sizes make the proof trivial. Throws RangeError if the new size is smaller. */
export async function consistencyProof(read: HashReader, oldSize: number, newSize: number): Promise<Uint8Array[]> {
  if (!Number.isSafeInteger(oldSize) || oldSize < 0 || oldSize > newSize) {
    throw new RangeError(`no consistency proof from ${oldSize} to ${newSize}`);
  }
  if (oldSize === 0 || oldSize === newSize) return [];
  let low = 0;
  let high = newSize;
  const siblings: Promise<Uint8Array>[] = [];
  // Walks to the node at the end of the old tree; the verifier knows the old root.
  while (high !== oldSize) {
    const middle = low + largestPowerBelow(high - low);
    if (oldSize <= middle) {
      siblings.push(rangeHash(read, middle, high));
      high = middle;
    } else {
      siblings.push(rangeHash(read, low, middle));
      low = middle;
    }
  }
  if (low !== 0) siblings.push(rangeHash(read, low, high));
  return (await Promise.all(siblings)).reverse();
}

/** The perfect subtrees, left to right, that make up leaves [low, high) of a node of an RFC 6962 tree. */
function perfectSubtrees(low: number, high: number): Subtree[] {
  const subtrees: Subtree[] = [];
  let at = low;
  while (at < high) {
    let level = 0;
    while (2 ** (level + 1) <= high - at) level++;
    subtrees.push({ level, index: at / 2 ** level });
    at += 2 ** level;
  }
  return subtrees;
}

/** Hash over adjacent subtree hashes, left to right, as `perfectSubtrees` lists them. */
export function foldHashes(hashes: readonly Uint8Array[], digest?: (bytes: Uint8Array) => Uint8Array): Uint8Array {
  return hashes.reduceRight((right, left) => nodeHash(left, right, digest));
}

async function rangeHash(read: HashReader, low: number, high: number): Promise<Uint8Array> {
  return foldHashes(await Promise.all(perfectSubtrees(low, high).map(async ({ level, index }) => read(level, index))));
}

/** The split point k of RFC 6962: the largest power of two smaller than a count above one. */
function largestPowerBelow(count: number): number {
  let power = 1;
  while (power * 2 < count) power *= 2;
  return power;
}
