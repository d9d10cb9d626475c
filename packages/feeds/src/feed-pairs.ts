// Which feed named which domain, and on which day last: one growing table of numbers, since there are millions of pairs.

/** Slots in use, at most, of all: beyond it looking for one takes too many steps. */
const MOST_FULL = 0.7;
/** No domain has this number. */
const FREE = 0xffff_ffff;

export class FeedPairs {
  #domains: Uint32Array = new Uint32Array(1 << 12).fill(FREE);
  #feeds: Uint32Array = new Uint32Array(1 << 12);
  /** Since 1970: two bytes reach to the year 2149. */
  #days: Uint16Array = new Uint16Array(1 << 12);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Takes in that a feed named a domain on a day; returns the latest day before, or undefined when it never had. */
  add(domain: number, feed: number, day: number): number | undefined {
    if (this.#size >= this.#domains.length * MOST_FULL) this.#resize(this.#domains.length * 2, () => true);
    const slot = this.#slotOf(domain, feed);
    if (this.#domains[slot] === FREE) {
      this.#put(slot, domain, feed, day);
      return undefined;
    }
    const before = this.#days[slot] as number;
    if (day > before) this.#days[slot] = day;
    return before;
  }

  /** Every pair, in no order. */
  each(visit: (domain: number, day: number) => void): void {
    for (let slot = 0; slot < this.#domains.length; slot += 1) {
      const domain = this.#domains[slot] as number;
      if (domain !== FREE) visit(domain, this.#days[slot] as number);
    }
  }

  /** Drops the pairs whose latest day is before this one. */
  forget(before: number): void {
    this.#resize(this.#domains.length, (day) => day >= before);
  }

  #resize(length: number, isKept: (day: number) => boolean): void {
    const [domains, feeds, days] = [this.#domains, this.#feeds, this.#days];
    this.#domains = new Uint32Array(length).fill(FREE);
    this.#feeds = new Uint32Array(length);
    this.#days = new Uint16Array(length);
    this.#size = 0;
    for (let slot = 0; slot < domains.length; slot += 1) {
      const [domain, feed, day] = [domains[slot] as number, feeds[slot] as number, days[slot] as number];
      if (domain !== FREE && isKept(day)) this.#put(this.#slotOf(domain, feed), domain, feed, day);
    }
  }

  #put(slot: number, domain: number, feed: number, day: number): void {
    this.#domains[slot] = domain;
    this.#feeds[slot] = feed;
    this.#days[slot] = day;
    this.#size += 1;
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
