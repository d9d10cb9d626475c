// The numbers of names in the order of the names, for look-ups by name. The first reader after changes merges them.
import { partitionPoint } from '../partition-point.ts';
import { bytesOf } from './byte-text.ts';
import { sortByName } from './sort-by-name.ts';

interface Names {
  /** One more than the largest number. */
  readonly limit: number;
  name(number: number): string;
  compare(a: number, b: number): number;
  /** Compares the beginning of a name with these bytes; a shorter name with an equal beginning comes before. */
  compareStart(number: number, part: Uint8Array): number;
  /** The byte at an offset; 0 after the end. */
  byteAt(number: number, offset: number): number;
}

/** Positions in the order without their last `shift` bits, by number: 16 bits of each. */
interface Ranks {
  readonly high: Uint16Array;
  readonly shift: number;
}

const RANK_BITS = 16;

export class SortedNames {
  readonly #names: Names;
  /** Without those in `#added`. */
  #order: Uint32Array<ArrayBuffer>;
  #added: number[] = [];
  /** Removed numbers that are still in `#order` or `#added`. */
  readonly #removed = new Set<number>();
  #ranks: Ranks | undefined;

  constructor(names: Names, order: Uint32Array<ArrayBuffer> = new Uint32Array(0)) {
    this.#names = names;
    this.#order = order;
  }

  get count(): number {
    return this.#order.length + this.#added.length - this.#removed.size;
  }

  add(number: number): void {
    // Its former name must not stay in the order.
    if (this.#removed.has(number)) this.#merge();
    this.#added.push(number);
  }

  /** Removals are rare and come in batches: the next reader sorts again. */
  remove(number: number): void {
    this.#removed.add(number);
  }

  find(name: string): number | undefined {
    const order = this.numbers();
    const number = order[this.#firstFrom(bytesOf(name))];
    return number !== undefined && this.#names.name(number) === name ? number : undefined;
  }

  /** The number of names up to this one in `numbers()`, itself included. */
  countThrough(name: string): number {
    const isPresent = this.find(name) !== undefined;
    return this.#firstFrom(bytesOf(name)) + Number(isPresent);
  }

  /** The range in `numbers()` of the names with this prefix: from, to (exclusive). */
  prefixRange(prefix: string): readonly [from: number, to: number] {
    const order = this.numbers();
    const part = bytesOf(prefix);
    const from = this.#firstFrom(part);
    const hasPrefix = (at: number) => this.#names.compareStart(order[at] as number, part) === 0;
    return [from, partitionPoint(from, order.length, hasPrefix)];
  }

  /** All numbers in the order of their names. */
  numbers(): Uint32Array<ArrayBuffer> {
    if (this.#added.length + this.#removed.size > 0) this.#merge();
    return this.#order;
  }

  ranks(): Ranks {
    const order = this.numbers();
    if (!this.#ranks) {
      const shift = Math.max(0, 32 - Math.clz32(order.length) - RANK_BITS);
      const high = new Uint16Array(this.#names.limit);
      for (let i = 0; i < order.length; i += 1) high[order[i] as number] = i >>> shift;
      this.#ranks = { high, shift };
    }
    return this.#ranks;
  }

  /** The position of a name in the order, which is searched from its first bits on; the end for a number without a name. */
  rankOf(number: number): number {
    const { high, shift } = this.ranks();
    let rank = (high[number] as number) << shift;
    while (rank < this.#order.length && this.#order[rank] !== number) rank += 1;
    return rank;
  }

  get byteLength(): number {
    return this.#order.byteLength + (this.#ranks?.high.byteLength ?? 0) + this.#added.length * 8;
  }

  #merge(): void {
    const isPresent = (number: number) => !this.#removed.has(number);
    const hasRemoved = this.#removed.size > 0;
    const fresh = Uint32Array.from(hasRemoved ? this.#added.filter(isPresent) : this.#added);
    sortByName(fresh, this.#names);
    const old = hasRemoved ? this.#order.filter(isPresent) : this.#order;
    this.#added = [];
    this.#removed.clear();
    this.#ranks = undefined;
    const order = new Uint32Array(old.length + fresh.length);
    // Finds each new name's position by binary search and copies the run before it: few new names cost few comparisons.
    let from = 0;
    for (const [i, number] of fresh.entries()) {
      const to = partitionPoint(from, old.length, (at) => this.#names.compare(old[at] as number, number) < 0);
      order.set(old.subarray(from, to), from + i);
      order[to + i] = number;
      from = to;
    }
    order.set(old.subarray(from), from + fresh.length);
    this.#order = order;
  }

  /** The first position in the order whose name does not come before the bytes. */
  #firstFrom(part: Uint8Array): number {
    const order = this.#order;
    return partitionPoint(0, order.length, (at) => this.#names.compareStart(order[at] as number, part) < 0);
  }
}
