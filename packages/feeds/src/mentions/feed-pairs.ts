// The latest day on which a feed mentioned a domain: a growing hash table of numbers, for millions of pairs.

/** Maximum load factor: above it, probing takes too many steps. */
const MAX_FULL = 0.7;
const MIN_SLOTS = 1 << 12;
/** No domain has this number. */
const FREE = 0xffff_ffff;

/** Results of `add` for a new pair, and for one that exceeds the limit. */
export const NEVER = Number.NEGATIVE_INFINITY;
export const NO_CAPACITY = Number.POSITIVE_INFINITY;

export interface FeedPairsOptions {
  readonly max: number;
  /** For one feed, so that it cannot use up the capacity. */
  readonly maxOfFeed: number;
}

export interface PairMention {
  readonly domain: number;
  readonly feed: number;
  readonly day: number;
  /** Pairs with an earlier latest day may be dropped. */
  readonly oldest: number;
}

export class FeedPairs {
  readonly #options: FeedPairsOptions;
  #domains: Uint32Array = new Uint32Array(MIN_SLOTS).fill(FREE);
  #feeds: Uint32Array = new Uint32Array(MIN_SLOTS);
  /** Days since 1970: two bytes reach to the year 2149. */
  #days: Uint16Array = new Uint16Array(MIN_SLOTS);
  #size = 0;
  /** Number of pairs of each feed. */
  #ofFeed = new Map<number, number>();
  /** The oldest day that was kept in the latest rebuild. */
  #keptFrom = 0;

  constructor(options: FeedPairsOptions) {
    this.#options = options;
  }

  /** Pairs in the table, including those that may be dropped. */
  get size(): number {
    return this.#size;
  }

  /** Records that a feed mentioned a domain on a day; returns the previous latest day, `NEVER` or `NO_CAPACITY`. */
  add({ domain, feed, day, oldest }: PairMention): number {
    const slot = this.#slotOf(domain, feed);
    if (this.#domains[slot] !== FREE) {
      const before = this.#days[slot] as number;
      if (day > before) this.#days[slot] = day;
      return before;
    }
    if (!this.#hasCapacity(feed, oldest)) return NO_CAPACITY;
    this.#put(domain, feed, day);
    return NEVER;
  }

  /** Visits every pair, in no defined order. */
  each(visit: (domain: number, day: number) => void): void {
    for (let slot = 0; slot < this.#domains.length; slot += 1) {
      const domain = this.#domains[slot] as number;
      if (domain !== FREE) visit(domain, this.#days[slot] as number);
    }
  }

  #hasCapacity(feed: number, oldest: number): boolean {
    const { max, maxOfFeed } = this.#options;
    const isFull = () => this.#size >= max || (this.#ofFeed.get(feed) ?? 0) >= maxOfFeed;
    // A rebuild visits all pairs, so it runs at most once a day.
    if (isFull() && this.#keptFrom < oldest) this.#rebuild(oldest);
    if (isFull()) return false;
    if (this.#size >= this.#domains.length * MAX_FULL) this.#rebuild(oldest);
    return true;
  }

  /** Drops old pairs; the table then has capacity for at least half as many again. */
  #rebuild(oldest: number): void {
    const [domains, feeds, days] = [this.#domains, this.#feeds, this.#days];
    let kept = 0;
    for (let slot = 0; slot < domains.length; slot += 1)
      if (domains[slot] !== FREE && (days[slot] as number) >= oldest) kept += 1;
    let length = MIN_SLOTS;
    while (length * MAX_FULL < 1.5 * kept) length *= 2;
    this.#domains = new Uint32Array(length).fill(FREE);
    this.#feeds = new Uint32Array(length);
    this.#days = new Uint16Array(length);
    this.#size = 0;
    this.#ofFeed = new Map();
    this.#keptFrom = oldest;
    for (let slot = 0; slot < domains.length; slot += 1) {
      const [domain, feed, day] = [domains[slot] as number, feeds[slot] as number, days[slot] as number];
      if (domain !== FREE && day >= oldest) this.#put(domain, feed, day);
    }
  }

  #put(domain: number, feed: number, day: number): void {
    const slot = this.#slotOf(domain, feed);
    this.#domains[slot] = domain;
    this.#feeds[slot] = feed;
    this.#days[slot] = day;
    this.#size += 1;
    this.#ofFeed.set(feed, (this.#ofFeed.get(feed) ?? 0) + 1);
  }

  /** The slot of the pair, or the one where it would be inserted. */
  #slotOf(domain: number, feed: number): number {
    const mask = this.#domains.length - 1;
    // Multipliers of Fibonacci hashing and of Murmur3 distribute consecutive numbers.
    let hash = Math.imul(domain, 0x9e37_79b1) ^ Math.imul(feed, 0x85eb_ca6b);
    hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2_ae35);
    for (let slot = (hash ^ (hash >>> 13)) & mask; ; slot = (slot + 1) & mask) {
      const found = this.#domains[slot];
      if (found === FREE || (found === domain && this.#feeds[slot] === feed)) return slot;
    }
  }
}
