// A Merkle tree over all leaves of a log, and proofs in it (RFC 6962, RFC 9162).
import { hash } from 'node:crypto';

const sha256 = (...parts: readonly Uint8Array[]) => hash('sha256', Buffer.concat(parts), 'buffer');
export const leafHash = (leaf: Uint8Array): Buffer => sha256(Uint8Array.of(0), leaf);
const nodeHash = (left: Uint8Array, right: Uint8Array): Buffer => sha256(Uint8Array.of(1), left, right);

export class Tree {
  /** Hashes of the complete subtrees of 2^level leaves, by level. */
  readonly #levels: Buffer[][] = [[]];
  /** Index of each leaf by its hash in hexadecimal digits. */
  readonly indexes = new Map<string, number>();

  constructor(leaves: readonly Uint8Array[]) {
    for (const [index, leaf] of leaves.entries()) {
      let node = leafHash(leaf);
      this.indexes.set(node.toString('hex'), index);
      for (let level = 0; ; level += 1) {
        const nodes = this.#levels[level] ?? [];
        this.#levels[level] = nodes;
        nodes.push(node);
        const left = nodes.at(-2);
        if (nodes.length % 2 === 1 || !left) break;
        node = nodeHash(left, node);
      }
    }
  }

  get size(): number {
    return this.#levels[0]?.length ?? 0;
  }

  /** The root over the first `size` leaves. */
  root(size: number): Buffer {
    let root: Buffer | undefined;
    for (const [level, nodes] of this.#levels.entries()) {
      const count = Math.floor(size / 2 ** level);
      const node = count % 2 === 1 ? nodes[count - 1] : undefined;
      if (node) root = root ? nodeHash(node, root) : node;
    }
    return root ?? sha256();
  }
}

/** The root to which an inclusion proof leads; undefined where it has a wrong length (RFC 9162, 2.1.3.2). */
export function rootOfProof(leaf: Uint8Array, index: number, size: number, proof: readonly Uint8Array[]) {
  let [at, last, root] = [index, size - 1, leaf];
  for (const sibling of proof) {
    if (last === 0) return undefined;
    if (at % 2 === 1 || at === last) {
      root = nodeHash(sibling, root);
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)];
    } else root = nodeHash(root, sibling);
    [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  }
  return last === 0 ? Buffer.from(root) : undefined;
}
