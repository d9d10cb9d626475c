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

export class SortedNames {
  readonly #names: Names;
  /** Without those in `#added`. */
  #order: Uint32Array<ArrayBuffer>;
  #added: number[] = [];
  /** Removed numbers that are still in `#order` or `#added`. */
  readonly #removed = new Set<number>();
  #ranks: Uint32Array | undefined;

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

  /** By number: the position of its name in the order. */
  ranks(): Uint32Array {
    const order = this.numbers();
    if (!this.#ranks) {
      const ranks = new Uint32Array(this.#names.limit);
      for (let i = 0; i < order.length; i += 1) ranks[order[i] as number] = i;
      this.#ranks = ranks;
    }
    return this.#ranks;
  }

  get byteLength(): number {
    return this.#order.byteLength + (this.#ranks?.byteLength ?? 0) + this.#added.length * 8;
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
