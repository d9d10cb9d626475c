// Which worker has read which beginnings: hashes of blocks of tokens, each over all that stands before it. Bounded, oldest out first.

/** Tokens of a block: short enough to tell conversations apart, long enough that 8,000 tokens are 125 of them. */
const BLOCK = 64;
/** About 13 million tokens, and some 50 MB. */
const MAX_BLOCKS = 200_000;
/** Who read a block last; a system prompt that all have read is found at enough of them. */
const MAX_HOLDERS = 8;

interface Holder {
  readonly peer: string;
  isForgotten: boolean;
}

export class PrefixMap {
  readonly #maxBlocks: number;
  /** By hash, the one used longest ago first; in each, those who have it, the latest last. */
  readonly #blocks = new Map<number, Holder[]>();
  readonly #holders = new Map<string, Holder>();

  constructor({ maxBlocks = MAX_BLOCKS }: { readonly maxBlocks?: number } = {}) {
    this.#maxBlocks = maxBlocks;
  }

  /** Blocks kept. */
  get size(): number {
    return this.#blocks.size;
  }

  /** Remembers that a worker has read these tokens: the whole conversation, not its first message. */
  note(peer: string, modelSha256: string, tokens: readonly number[]): void {
    let holder = this.#holders.get(peer);
    if (!holder) {
      holder = { peer, isForgotten: false };
      this.#holders.set(peer, holder);
    }
    // The beginning is marked last: without it the rest could not be found, so it must not be the first to go.
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

  /** By worker, how many of the first tokens it is believed to have read; whole blocks, the longest beginning first. */
  cachedTokens(modelSha256: string, tokens: readonly number[]): ReadonlyMap<string, number> {
    const found = new Map<string, number>();
    for (const [i, key] of [...blockKeys(modelSha256, tokens).entries()].reverse()) {
      for (const { peer, isForgotten } of this.#blocks.get(key) ?? []) {
        if (!isForgotten && !found.has(peer)) found.set(peer, (i + 1) * BLOCK);
      }
    }
    return found;
  }

  /** It has lost what it read. */
  forget(peer: string): void {
    const holder = this.#holders.get(peer);
    // Blocks that name it are many; they find it marked.
    if (holder) holder.isForgotten = true;
    this.#holders.delete(peer);
  }
}

function withLatest(holders: readonly Holder[], latest: Holder): Holder[] {
  const others = holders.filter((holder) => holder !== latest && !holder.isForgotten);
  return [...others.slice(-(MAX_HOLDERS - 1)), latest];
}

/**
 * A number for each whole block, over it and all before it: two multiplicative hashes side by side, 53 bits. Not for secrets: whoever
 * finds two beginnings with the same number makes his own request wait for a worker that has not read it.
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
