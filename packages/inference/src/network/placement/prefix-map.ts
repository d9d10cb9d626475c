// Which worker has which prompt prefixes in its cache: hashes of token blocks, each over all tokens up to its end.
// Bounded; the least recently used go first.

/** Tokens per block: short enough to distinguish conversations, long enough that 8,000 tokens are only 125 blocks. */
const BLOCK = 64;
/** About 13 million tokens in about 50 MB. */
const MAX_BLOCKS = 200_000;
/**
 * Maximum number of workers per block, most recent last; for a system prompt that all workers have read, this many are
 * enough.
 */
const MAX_HOLDERS = 8;

interface Holder {
  readonly peer: string;
  isForgotten: boolean;
}

export class PrefixMap {
  readonly #maxBlocks: number;
  /** By hash, least recently used first; the workers of each block, most recent last. */
  readonly #blocks = new Map<number, Holder[]>();
  readonly #holders = new Map<string, Holder>();

  constructor({ maxBlocks = MAX_BLOCKS }: { readonly maxBlocks?: number } = {}) {
    this.#maxBlocks = maxBlocks;
  }

  get size(): number {
    return this.#blocks.size;
  }

  /** Records that a worker has read these tokens: the complete conversation, not just its first message. */
  note(peer: string, modelSha256: string, tokens: readonly number[]): void {
    let holder = this.#holders.get(peer);
    if (!holder) {
      holder = { peer, isForgotten: false };
      this.#holders.set(peer, holder);
    }
    // The first block is marked last, so that it is evicted last: the other blocks are found through it.
    for (const key of blockKeys(modelSha256, tokens).reverse()) {
      const holders = this.#blocks.get(key) ?? [];
      this.#blocks.delete(key);
      this.#blocks.set(key, withLatest(holders, holder));
    }
    for (const key of this.#blocks.keys()) {
      if (this.#blocks.size <= this.#maxBlocks) break;
      this.#blocks.delete(key);
    }
  }

  /**
   * By worker, the number of leading tokens that its cache probably contains; complete blocks, longest prefix first.
   */
  cachedTokens(modelSha256: string, tokens: readonly number[]): ReadonlyMap<string, number> {
    const found = new Map<string, number>();
    for (const [i, key] of [...blockKeys(modelSha256, tokens).entries()].reverse()) {
      for (const { peer, isForgotten } of this.#blocks.get(key) ?? []) {
        if (!isForgotten && !found.has(peer)) found.set(peer, (i + 1) * BLOCK);
      }
    }
    return found;
  }

  /** The worker has lost its cache. */
  forget(peer: string): void {
    const holder = this.#holders.get(peer);
    // Many blocks refer to the holder; the mark is cheaper than removing it from all of them.
    if (holder) holder.isForgotten = true;
    this.#holders.delete(peer);
  }
}

function withLatest(holders: readonly Holder[], latest: Holder): Holder[] {
  const rest = holders.filter((holder) => holder !== latest && !holder.isForgotten);
  return [...rest.slice(-(MAX_HOLDERS - 1)), latest];
}

/**
 * A 53-bit number for each complete block, computed over it and all blocks before it with two multiplicative hashes.
 * Not collision-resistant: a client that constructs a collision only delays its own request, which is sent to a worker
 * without the prefix.
 */
function blockKeys(modelSha256: string, tokens: readonly number[]): number[] {
  let a = Number.parseInt(modelSha256.slice(0, 8), 16) | 0;
  let b = Number.parseInt(modelSha256.slice(8, 16), 16) | 0;
  const keys: number[] = [];
  const end = tokens.length - (tokens.length % BLOCK);
  for (let i = 0; i < end; i++) {
    const token = tokens[i] as number;
    a = Math.imul(a ^ token, 0x01000193);
    a ^= a >>> 15;
    b = Math.imul(b + token, 0x85ebca6b);
    b ^= b >>> 13;
    if ((i + 1) % BLOCK === 0) keys.push((a >>> 11) * 2 ** 32 + (b >>> 0));
  }
  return keys;
}
