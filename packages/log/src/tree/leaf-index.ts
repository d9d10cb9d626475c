// Maps leaf hashes to leaf indexes: open addressing over typed arrays, 11 to 21 bytes a leaf. It stores 32 bits of the hash, so
// it returns candidates, which the caller compares with the stored hashes.

/** Shards grow one by one, so that no rehash blocks the event loop for long. */
const SHARDS = 256;
const FIRST_SLOTS = 16;
const MAX_LOAD = 0.75;
/** Indexes are stored plus one in 32 bits; zero is an empty slot. */
const MAX_INDEX = 0xffff_fffe;

interface Shard {
  /** Pairs of fingerprint and index + 1; the number of pairs is a power of two. */
  slots: Uint32Array;
  used: number;
}

export class LeafIndex {
  readonly #shards: Shard[] = Array.from({ length: SHARDS }, () => ({
    slots: new Uint32Array(2 * FIRST_SLOTS),
    used: 0,
  }));

  /** Adds the leaf with this hash (at least 5 bytes of it) at `index`. */
  add(hash: Uint8Array, index: number): void {
    if (index > MAX_INDEX) throw new RangeError(`leaf ${index} does not fit the index`);
    const shard = this.#shardOf(hash);
    if (shard.used + 1 > (shard.slots.length / 2) * MAX_LOAD) grow(shard);
    insert(shard.slots, fingerprintOf(hash), index + 1);
    shard.used++;
  }

  /** Indexes of leaves that may have this hash. */
  *candidates(hash: Uint8Array): Generator<number> {
    const { slots } = this.#shardOf(hash);
    const fingerprint = fingerprintOf(hash);
    const mask = slots.length / 2 - 1;
    for (let slot = fingerprint & mask; slots[2 * slot + 1] !== 0; slot = (slot + 1) & mask) {
      if (slots[2 * slot] === fingerprint) yield (slots[2 * slot + 1] ?? 0) - 1;
    }
  }

  get sizeBytes(): number {
    return this.#shards.reduce((sum, { slots }) => sum + slots.byteLength, 0);
  }

  #shardOf(hash: Uint8Array): Shard {
    const shard = this.#shards[hash[0] ?? 0];
    if (!shard) throw new Error('no such shard');
    return shard;
  }
}

/** Bytes 1 to 4: byte 0 selects the shard. */
function fingerprintOf(hash: Uint8Array): number {
  return (((hash[1] ?? 0) << 24) | ((hash[2] ?? 0) << 16) | ((hash[3] ?? 0) << 8) | (hash[4] ?? 0)) >>> 0;
}

function insert(slots: Uint32Array, fingerprint: number, entry: number): void {
  const mask = slots.length / 2 - 1;
  let slot = fingerprint & mask;
  while (slots[2 * slot + 1] !== 0) slot = (slot + 1) & mask;
  slots[2 * slot] = fingerprint;
  slots[2 * slot + 1] = entry;
}

function grow(shard: Shard): void {
  const wider = new Uint32Array(2 * shard.slots.length);
  for (let at = 0; at < shard.slots.length; at += 2) {
    const entry = shard.slots[at + 1] ?? 0;
    if (entry !== 0) insert(wider, shard.slots[at] ?? 0, entry);
  }
  shard.slots = wider;
}
