// Which feed named which domain, and on which day last: one growing table of numbers, since there are millions of pairs.

/** Slots in use, at most, of all: beyond it looking for one takes too many steps. */
const MAX_FULL = 0.7;
const MIN_SLOTS = 1 << 12;
/** No domain has this number. */
const FREE = 0xffff_ffff;

/** What `add` answers for a pair that was not known, and for one that there was no room for. */
export const NEVER = Number.NEGATIVE_INFINITY;
export const NO_ROOM = Number.POSITIVE_INFINITY;

export interface FeedPairsOptions {
  readonly max: number;
  /** Of one feed: the others must have room too. */
  readonly maxOfFeed: number;
}

export interface Naming {
  readonly domain: number;
  readonly feed: number;
  readonly day: number;
  /** Pairs whose latest day is before this one may be forgotten. */
  readonly oldest: number;
}

export class FeedPairs {
  readonly #options: FeedPairsOptions;
  #domains: Uint32Array = new Uint32Array(MIN_SLOTS).fill(FREE);
  #feeds: Uint32Array = new Uint32Array(MIN_SLOTS);
  /** Since 1970: two bytes reach to the year 2149. */
  #days: Uint16Array = new Uint16Array(MIN_SLOTS);
  #size = 0;
  /** Pairs of each feed. */
  #ofFeed = new Map<number, number>();
  /** The oldest day that was kept when the table was last made anew. */
  #keptFrom = 0;

  constructor(options: FeedPairsOptions) {
    this.#options = options;
  }

  /** Pairs in the table, those that may be forgotten among them. */
  get size(): number {
    return this.#size;
  }

  /** Takes in that a feed named a domain on a day; returns the latest day before, `NEVER` or `NO_ROOM`. */
  add({ domain, feed, day, oldest }: Naming): number {
    const slot = this.#slotOf(domain, feed);
    if (this.#domains[slot] !== FREE) {
      const before = this.#days[slot] as number;
      if (day > before) this.#days[slot] = day;
      return before;
    }
    if (!this.#makeRoom(feed, oldest)) return NO_ROOM;
    this.#put(domain, feed, day);
    return NEVER;
  }

  /** Every pair, in no order. */
  each(visit: (domain: number, day: number) => void): void {
    for (let slot = 0; slot < this.#domains.length; slot += 1) {
      const domain = this.#domains[slot] as number;
      if (domain !== FREE) visit(domain, this.#days[slot] as number);
    }
  }

  #makeRoom(feed: number, oldest: number): boolean {
    const { max, maxOfFeed } = this.#options;
    const isFull = () => this.#size >= max || (this.#ofFeed.get(feed) ?? 0) >= maxOfFeed;
    // A walk over all of them, so that it is done once for each day that passed.
    if (isFull() && this.#keptFrom < oldest) this.#makeAnew(oldest);
    if (isFull()) return false;
    if (this.#size >= this.#domains.length * MAX_FULL) this.#makeAnew(oldest);
    return true;
  }

  /** Drops what is old; the table then has room for half as many again at least. */
  #makeAnew(oldest: number): void {
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

  /** Where the pair is, or would be. */
  #slotOf(domain: number, feed: number): number {
    const mask = this.#domains.length - 1;
    // Multipliers of Fibonacci hashing and of Murmur3: numbers that follow one another fall far apart.
    let hash = Math.imul(domain, 0x9e37_79b1) ^ Math.imul(feed, 0x85eb_ca6b);
    hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2_ae35);
    for (let slot = (hash ^ (hash >>> 13)) & mask; ; slot = (slot + 1) & mask) {
      const found = this.#domains[slot];
      if (found === FREE || (found === domain && this.#feeds[slot] === feed)) return slot;
    }
  }
}
