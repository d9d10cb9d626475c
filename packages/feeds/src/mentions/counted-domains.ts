// The counted domains, each with a number: limited in total, and for each feed.

export interface CountedDomainsOptions {
  readonly max: number;
  /** New domains that one feed may add: a spam feed must not use up the capacity. */
  readonly maxOfFeed: number;
}

export class CountedDomains {
  readonly #options: CountedDomainsOptions;
  readonly #numbers = new NameNumbers();
  /** By number: the last day of a mention, and the feed that added the domain. */
  #days = new Uint16Array(0);
  #addedBy = new Uint32Array(0);
  /** Number of domains added by each feed. */
  readonly #addedCounts = new Map<number, number>();

  constructor(options: CountedDomainsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#numbers.size;
  }

  /** By number; empty for a number without a domain. */
  get names(): readonly string[] {
    return this.#numbers.names;
  }

  /** The length to allocate for columns by number: grows by half, up to the maximum. */
  get length(): number {
    const used = this.#numbers.names.length;
    return Math.max(used, Math.min(this.#options.max, used + (used >>> 1) + 1_024));
  }

  find(domain: string): number | undefined {
    return this.#numbers.find(domain);
  }

  /** The number of a domain that a feed mentions on a day; undefined if the limit is reached. */
  take(domain: string, { feedId, day }: { readonly feedId: number; readonly day: number }): number | undefined {
    const number = this.#numbers.find(domain) ?? this.#add(domain, feedId);
    if (number !== undefined && day > (this.#days[number] as number)) this.#days[number] = day;
    return number;
  }

  #add(domain: string, feedId: number): number | undefined {
    const addedByFeed = this.#addedCounts.get(feedId) ?? 0;
    if (this.#numbers.size >= this.#options.max || addedByFeed >= this.#options.maxOfFeed) return undefined;
    const number = this.#numbers.add(domain);
    if (number >= this.#days.length) {
      const [days, addedBy] = [new Uint16Array(this.length), new Uint32Array(this.length)];
      days.set(this.#days);
      addedBy.set(this.#addedBy);
      this.#days = days;
      this.#addedBy = addedBy;
    }
    this.#days[number] = 0;
    this.#addedBy[number] = feedId;
    this.#addedCounts.set(feedId, addedByFeed + 1);
    return number;
  }

  /** Releases the numbers of domains without a mention since the day. */
  forget(before: number): void {
    const { names } = this.#numbers;
    const unused: number[] = [];
    for (let number = 0; number < names.length; number += 1) {
      if ((this.#days[number] as number) >= before || names[number] === '') continue;
      unused.push(number);
      const feedId = this.#addedBy[number] as number;
      const left = (this.#addedCounts.get(feedId) ?? 1) - 1;
      if (left === 0) this.#addedCounts.delete(feedId);
      else this.#addedCounts.set(feedId, left);
    }
    this.#numbers.drop(unused);
  }
}

/** Maximum load factor. */
const MAX_FULL = 0.6;
const FREE = -1;

export class NameNumbers {
  readonly #names: string[] = [];
  readonly #released: number[] = [];
  /** Hash table of the numbers, by hash of the name. */
  #slots = new Int32Array(1 << 12).fill(FREE);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** By number; empty for released numbers. */
  get names(): readonly string[] {
    return this.#names;
  }

  find(name: string): number | undefined {
    const number = this.#slots[this.#slotOf(name)] as number;
    return number === FREE ? undefined : number;
  }

  /** Assigns a released number or the next free one. The name must not have a number. */
  add(name: string): number {
    const number = this.#released.pop() ?? this.#names.length;
    this.#names[number] = name;
    this.#size += 1;
    if (this.#size > this.#slots.length * MAX_FULL) this.#rebuild(this.#slots.length * 2);
    else this.#slots[this.#slotOf(name)] = number;
    return number;
  }

  /** Releases numbers for reuse. */
  drop(numbers: readonly number[]): void {
    // A rebuild is cheaper if many names are released.
    const isFew = numbers.length < this.#size / 4;
    for (const number of numbers) {
      if (isFew) this.#close(this.#slotOf(this.#names[number] as string));
      this.#names[number] = '';
      this.#released.push(number);
    }
    this.#size -= numbers.length;
    if (!isFew) this.#rebuild(this.#slots.length);
  }

  /** Frees a slot: displaced entries behind it move up, so that no search ends too early. */
  #close(freed: number): void {
    const mask = this.#slots.length - 1;
    let hole = freed;
    for (let slot = (hole + 1) & mask; this.#slots[slot] !== FREE; slot = (slot + 1) & mask) {
      const number = this.#slots[slot] as number;
      const wanted = hashOf(this.#names[number] as string) & mask;
      const isBehindHole = ((slot - wanted) & mask) >= ((slot - hole) & mask);
      if (!isBehindHole) continue;
      this.#slots[hole] = number;
      hole = slot;
    }
    this.#slots[hole] = FREE;
  }

  #rebuild(length: number): void {
    this.#slots = new Int32Array(length).fill(FREE);
    for (let number = 0; number < this.#names.length; number += 1) {
      const name = this.#names[number] as string;
      if (name !== '') this.#slots[this.#slotOf(name)] = number;
    }
  }

  /** The slot of the name's number, or the one where it would be inserted. */
  #slotOf(name: string): number {
    const mask = this.#slots.length - 1;
    for (let slot = hashOf(name) & mask; ; slot = (slot + 1) & mask) {
      const number = this.#slots[slot] as number;
      if (number === FREE || this.#names[number] === name) return slot;
    }
  }
}

/** FNV-1a with Murmur3's final step: its low bits alone are too similar for names that differ only at the end. */
function hashOf(name: string): number {
  let hash = 0x811c_9dc5;
  for (let i = 0; i < name.length; i += 1) hash = Math.imul(hash ^ name.charCodeAt(i), 0x0100_0193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  return hash ^ (hash >>> 13);
}
