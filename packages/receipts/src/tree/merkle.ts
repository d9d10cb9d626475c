// The Merkle tree of RFC 6962 and the verification algorithms of RFC 9162. Indexes and sizes are safe integers.
import { sha256 } from '@noble/hashes/sha2.js';

/** SHA-256. */
export { sha256 };

export const HASH_BYTES = 32;

/** Enough for a tree of 2^53 leaves; longer proofs are rejected without reading them. */
export const MAX_PROOF_HASHES = 64;

/** MTH of the empty list, RFC 6962 section 2.1. */
export const EMPTY_ROOT: Uint8Array = sha256(new Uint8Array(0));

/** RFC 6962 section 2.1: SHA-256(0x00 || leaf). */
export function leafHash(leaf: Uint8Array, digest: (bytes: Uint8Array) => Uint8Array = sha256): Uint8Array {
  const input = new Uint8Array(1 + leaf.length);
  input.set(leaf, 1);
  return digest(input);
}

/** RFC 6962 section 2.1: SHA-256(0x01 || left || right). */
export function nodeHash(
  left: Uint8Array,
  right: Uint8Array,
  digest: (bytes: Uint8Array) => Uint8Array = sha256,
): Uint8Array {
  const input = new Uint8Array(1 + left.length + right.length);
  input[0] = 1;
  input.set(left, 1);
  input.set(right, 1 + left.length);
  return digest(input);
}

/** Compares in constant time for a given length; false for different lengths. */
export function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false;
  let difference = 0;
  for (let at = 0; at < left.length; at++) difference |= (left[at] ?? 0) ^ (right[at] ?? 0);
  return difference === 0;
}

export interface InclusionClaim {
  /** RFC 6962 leaf hash. */
  readonly leafHash: Uint8Array;
  readonly index: number;
  readonly size: number;
  readonly proof: readonly Uint8Array[];
  readonly root: Uint8Array;
}

/** RFC 9162 section 2.1.3.2. Returns false for an invalid or malformed claim; never throws. */
export function verifyInclusion({ leafHash, index, size, proof, root }: InclusionClaim): boolean {
  if (!isSize(size) || !isSize(index) || index >= size || !areHashes([leafHash, root, ...proof])) return false;
  let node = index;
  let last = size - 1;
  let hash = leafHash;
  for (const sibling of proof) {
    if (last === 0) return false;
    if (isOdd(node) || node === last) {
      hash = nodeHash(sibling, hash);
      while (!isOdd(node) && node !== 0) {
        node = half(node);
        last = half(last);
      }
    } else {
      hash = nodeHash(hash, sibling);
    }
    node = half(node);
    last = half(last);
  }
  return last === 0 && equalBytes(hash, root);
}

export interface ConsistencyClaim {
  readonly oldSize: number;
  readonly oldRoot: Uint8Array;
  readonly newSize: number;
  readonly newRoot: Uint8Array;
  readonly proof: readonly Uint8Array[];
}

/** RFC 9162 section 2.1.4.2, with the trivial cases: equal sizes require equal roots, and the empty tree precedes any tree. */
export function verifyConsistency({ oldSize, oldRoot, newSize, newRoot, proof }: ConsistencyClaim): boolean {
  if (!isSize(oldSize) || !isSize(newSize) || oldSize > newSize) return false;
  if (!areHashes([oldRoot, newRoot, ...proof]) || (oldSize === 0 && !equalBytes(oldRoot, EMPTY_ROOT))) return false;
  if (oldSize === newSize) return proof.length === 0 && equalBytes(oldRoot, newRoot);
  if (oldSize === 0) return proof.length === 0;
  const path = isPowerOfTwo(oldSize) ? [oldRoot, ...proof] : proof;
  const [first, ...rest] = path;
  if (first === undefined || proof.length === 0) return false;
  let node = oldSize - 1;
  let last = newSize - 1;
  while (isOdd(node)) {
    node = half(node);
    last = half(last);
  }
  let oldHash = first;
  let newHash = first;
  for (const sibling of rest) {
    if (last === 0) return false;
    if (isOdd(node) || node === last) {
      oldHash = nodeHash(sibling, oldHash);
      newHash = nodeHash(sibling, newHash);
      while (!isOdd(node) && node !== 0) {
        node = half(node);
        last = half(last);
      }
    } else {
      newHash = nodeHash(newHash, sibling);
    }
    node = half(node);
    last = half(last);
  }
  return last === 0 && equalBytes(oldHash, oldRoot) && equalBytes(newHash, newRoot);
}

// Bit operators truncate to 32 bits; a log may have more leaves.
const isOdd = (value: number): boolean => value % 2 === 1;
const half = (value: number): number => Math.floor(value / 2);
const isSize = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;
const isPowerOfTwo = (value: number): boolean => 2 ** Math.round(Math.log2(value)) === value;

/** Whether a proof with its two end hashes is not too long and contains only hashes. */
function areHashes(hashes: readonly Uint8Array[]): boolean {
  return hashes.length <= MAX_PROOF_HASHES + 2 && hashes.every((hash) => hash.length === HASH_BYTES);
}
