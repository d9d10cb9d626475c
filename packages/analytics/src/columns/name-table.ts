// The names of all domains by number.
import { bytesOf } from './byte-text.ts';
import { PackedRows } from './packed-rows.ts';
import { PAGE_SIZE, Pages, pageOf, rowOf } from './pages.ts';
import { SortedNames } from './sorted-names.ts';

const NO_PAGE = new PackedRows();
const noPages = () => new Pages(() => new PackedRows());

interface NameColumns {
  readonly pages: Pages<PackedRows>;
  /** One more than the largest number. */
  readonly limit: number;
  readonly order?: Uint32Array<ArrayBuffer>;
}

/** Domain names are ASCII: A-labels, at most 253 bytes (RFC 1035, 2.3.4). */
export class NameTable {
  readonly pages: Pages<PackedRows>;
  #limit: number;
  /** The same names in their order. */
  readonly sorted: SortedNames;

  /** Takes ownership of the pages and of all numbers in the order of their names. */
  constructor({ pages, limit, order }: NameColumns = { pages: noPages(), limit: 0 }) {
    this.pages = pages;
    this.#limit = limit;
    this.sorted = new SortedNames(this, order);
  }

  /** One more than the largest number. */
  get limit(): number {
    return this.#limit;
  }

  has(number: number): boolean {
    const [page, row] = [this.#page(number), rowOf(number)];
    return page.from(row) < page.to(row);
  }

  /** A number keeps its name until it is removed. */
  add(number: number, name: string): void {
    if (this.has(number)) return;
    this.sorted.add(number);
    this.pages.own(pageOf(number)).set(rowOf(number), bytesOf(name));
    this.#limit = Math.max(this.#limit, number + 1);
  }

  /** Returns whether no domain is left in its page. */
  remove(number: number): boolean {
    if (!this.has(number)) return false;
    this.sorted.remove(number);
    const page = this.pages.own(pageOf(number));
    page.set(rowOf(number), []);
    if (page.used > 0) return false;
    this.pages.drop(pageOf(number));
    return true;
  }

  name(number: number): string {
    const [page, row] = [this.#page(number), rowOf(number)];
    const bytes = page.values.subarray(page.from(row), page.to(row));
    // Spread syntax would use an iterator, which is four times as slow.
    return String.fromCharCode.apply(null, bytes as unknown as number[]);
  }

  /** Every name in the order of the numbers, as the bytes from `from` to `to`, exclusive. */
  each(visit: (number: number, bytes: Uint8Array, from: number, to: number) => void): void {
    for (let at = 0; at < this.pages.count; at += 1) {
      const page = this.pages.at(at);
      if (!page) continue;
      // Names are bytes.
      const bytes = page.values as Uint8Array;
      const { used } = page;
      for (let row = 0, from = 0; row < PAGE_SIZE && from < used; row += 1) {
        const to = page.to(row);
        if (to > from) visit(at * PAGE_SIZE + row, bytes, from, to);
        from = to;
      }
    }
  }

  /** Whether the name contains these bytes. */
  includes(number: number, part: Uint8Array): boolean {
    const [page, row] = [this.#page(number), rowOf(number)];
    const last = page.to(row) - part.length;
    const bytes = page.values;
    const first = part[0];
    for (let at = page.from(row); at <= last; at += 1) {
      if (bytes[at] !== first) continue;
      let i = 1;
      while (i < part.length && bytes[at + i] === part[i]) i += 1;
      if (i === part.length) return true;
    }
    return false;
  }

  /** Compares two names by their bytes. */
  compare(a: number, b: number): number {
    const [aPage, bPage] = [this.#page(a), this.#page(b)];
    const [aFrom, bFrom] = [aPage.from(rowOf(a)), bPage.from(rowOf(b))];
    const [aBytes, bBytes] = [aPage.values, bPage.values];
    const [aLength, bLength] = [aPage.to(rowOf(a)) - aFrom, bPage.to(rowOf(b)) - bFrom];
    const shared = Math.min(aLength, bLength);
    for (let i = 0; i < shared; i += 1) {
      const difference = (aBytes[aFrom + i] as number) - (bBytes[bFrom + i] as number);
      if (difference !== 0) return difference;
    }
    return aLength - bLength;
  }

  /** Compares the beginning of a name with these bytes; a shorter name with an equal beginning comes before. */
  compareStart(number: number, part: Uint8Array): number {
    const [page, row] = [this.#page(number), rowOf(number)];
    const [from, to] = [page.from(row), page.to(row)];
    for (let i = 0; i < part.length; i += 1) {
      if (from + i >= to) return -1;
      const difference = (page.values[from + i] as number) - (part[i] as number);
      if (difference !== 0) return difference;
    }
    return 0;
  }

  /** The byte of a name at an offset; 0 after its end. */
  byteAt(number: number, offset: number): number {
    const [page, row] = [this.#page(number), rowOf(number)];
    const at = page.from(row) + offset;
    return at < page.to(row) ? (page.values[at] as number) : 0;
  }

  /** Bytes by part. */
  get memory(): Readonly<Record<string, number>> {
    return { names: this.pages.reduce((page) => page.byteLength), 'sorted names': this.sorted.byteLength };
  }

  #page(number: number): PackedRows {
    return this.pages.at(pageOf(number)) ?? NO_PAGE;
  }
}

/** A longer copy with spare capacity. */
export function grown<T extends Uint8Array | Uint16Array | Uint32Array | Float64Array>(column: T, min: number): T {
  const Column = column.constructor as new (length: number) => T;
  const longer = new Column(Math.max(min, column.length + (column.length >>> 1)));
  longer.set(column);
  return longer;
}
