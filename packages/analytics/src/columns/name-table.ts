// The names of all domains in one byte array, by number and by name, sorted on demand.

/** Domain names are ASCII: A-labels, at most 253 bytes (RFC 1035, 2.3.4). */
export class NameTable {
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array(1 << 16);
  #used = 0;
  /** By domain number: the offset of its name; 0 for an unused number. */
  #starts: Uint32Array<ArrayBuffer> = new Uint32Array(1 << 10);
  #lengths: Uint8Array<ArrayBuffer> = new Uint8Array(1 << 10);
  #limit = 0;
  /** Numbers in the order of their names, without those in `#unsorted`. */
  #order: Uint32Array<ArrayBuffer> = new Uint32Array(0);
  #unsorted: number[] = [];
  /** Removed numbers that are still in `#order`. */
  readonly #removed = new Set<number>();
  /** Bytes of removed names. */
  #wasted = 0;
  #ranks: Uint32Array<ArrayBuffer> | undefined;

  constructor() {
    // Offset 0 means "no name".
    this.#used = 1;
  }

  get count(): number {
    return this.#order.length + this.#unsorted.length - this.#removed.size;
  }

  /** One more than the largest number. */
  get limit(): number {
    return this.#limit;
  }

  has(number: number): boolean {
    return (this.#starts[number] ?? 0) !== 0;
  }

  /** A number keeps its name until it is removed. */
  add(number: number, name: string): void {
    if (this.has(number)) return;
    if (this.#removed.has(number)) this.#merge();
    if (number >= this.#starts.length) {
      this.#starts = grown(this.#starts, number + 1);
      this.#lengths = grown(this.#lengths, number + 1);
    }
    if (this.#used + name.length > this.#bytes.length) this.#bytes = grown(this.#bytes, this.#used + name.length);
    this.#limit = Math.max(this.#limit, number + 1);
    this.#starts[number] = this.#used;
    this.#lengths[number] = name.length;
    for (let i = 0; i < name.length; i += 1) this.#bytes[this.#used + i] = byteOf(name.charCodeAt(i));
    this.#used += name.length;
    this.#unsorted.push(number);
  }

  /** Removals are rare and come in batches: the next reader sorts again. */
  remove(number: number): void {
    if (!this.has(number)) return;
    this.#starts[number] = 0;
    this.#wasted += this.#lengths[number] as number;
    this.#removed.add(number);
  }

  name(number: number): string {
    const start = this.#starts[number] ?? 0;
    const bytes = this.#bytes.subarray(start, start + (this.#lengths[number] ?? 0));
    // Spread syntax would use an iterator, which is four times as slow.
    return String.fromCharCode.apply(null, bytes as unknown as number[]);
  }

  /** Every name in the order of the numbers, as the bytes from `from` to `to`, exclusive. */
  each(visit: (number: number, bytes: Uint8Array, from: number, to: number) => void): void {
    for (let number = 0; number < this.#limit; number += 1) {
      const start = this.#starts[number] as number;
      if (start !== 0) visit(number, this.#bytes, start, start + (this.#lengths[number] as number));
    }
  }

  /** Whether the name contains these bytes. */
  includes(number: number, part: Uint8Array): boolean {
    const start = this.#starts[number] as number;
    const last = start + (this.#lengths[number] as number) - part.length;
    const bytes = this.#bytes;
    const first = part[0];
    for (let at = start; at <= last; at += 1) {
      if (bytes[at] !== first) continue;
      let i = 1;
      while (i < part.length && bytes[at + i] === part[i]) i += 1;
      if (i === part.length) return true;
    }
    return false;
  }

  /** The number of a name, or undefined. */
  find(name: string): number | undefined {
    const part = bytesOf(name);
    const order = this.order();
    const at = this.#firstNotBelow(part);
    const number = order[at];
    if (number === undefined || this.#lengths[number] !== part.length) return undefined;
    return this.#comparePrefix(number, part) === 0 ? number : undefined;
  }

  /** The number of names up to this one in `order()`, itself included. */
  countThrough(name: string): number {
    return this.#firstNotBelow(bytesOf(name)) + Number(this.find(name) !== undefined);
  }

  /** The range in `order()` of the names with this prefix: from, to (exclusive). */
  prefixRange(prefix: string): readonly [from: number, to: number] {
    const part = bytesOf(prefix);
    const order = this.order();
    const from = this.#firstNotBelow(part);
    let low = from;
    let high = order.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#comparePrefix(order[middle] as number, part) <= 0) low = middle + 1;
      else high = middle;
    }
    return [from, low];
  }

  /** All numbers in the order of their names. The first reader merges new names. */
  order(): Uint32Array<ArrayBuffer> {
    if (this.#unsorted.length + this.#removed.size > 0) this.#merge();
    return this.#order;
  }

  /** By number: the position of its name in the order. */
  ranks(): Uint32Array {
    const order = this.order();
    if (!this.#ranks) {
      const ranks = new Uint32Array(this.#limit);
      for (let i = 0; i < order.length; i += 1) ranks[order[i] as number] = i;
      this.#ranks = ranks;
    }
    return this.#ranks;
  }

  /** The table as arrays, for a snapshot; views that are valid until the next change. */
  columns() {
    const order = this.order();
    if (this.#wasted * 2 > this.#used) this.#compact();
    return {
      nameBytes: this.#bytes.subarray(0, this.#used),
      nameStarts: this.#starts.subarray(0, this.#limit),
      nameLengths: this.#lengths.subarray(0, this.#limit),
      nameOrder: order,
    };
  }

  /** Takes ownership of the arrays. */
  static from(columns: ReturnType<NameTable['columns']>): NameTable {
    const table = new NameTable();
    table.#bytes = columns.nameBytes;
    table.#used = columns.nameBytes.length;
    table.#starts = columns.nameStarts;
    table.#lengths = columns.nameLengths;
    table.#limit = columns.nameStarts.length;
    table.#order = columns.nameOrder;
    return table;
  }

  #compact(): void {
    const bytes = new Uint8Array(this.#used - this.#wasted);
    let used = 1;
    this.each((number, from, start, end) => {
      bytes.set(from.subarray(start, end), used);
      this.#starts[number] = used;
      used += end - start;
    });
    this.#bytes = bytes;
    this.#used = used;
    this.#wasted = 0;
  }

  #merge(): void {
    const isHere = (number: number) => !this.#removed.has(number);
    const hasRemoved = this.#removed.size > 0;
    const fresh = Uint32Array.from(hasRemoved ? this.#unsorted.filter(isHere) : this.#unsorted);
    fresh.sort((a, b) => this.#compare(a, b));
    const old = hasRemoved ? this.#order.filter(isHere) : this.#order;
    this.#unsorted = [];
    this.#removed.clear();
    this.#ranks = undefined;
    const order = new Uint32Array(old.length + fresh.length);
    // Finds each new name's position by binary search and copies the run before it: few new names cost few comparisons.
    let from = 0;
    for (let i = 0; i < fresh.length; i += 1) {
      const number = fresh[i] as number;
      let low = from;
      let high = old.length;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (this.#compare(old[middle] as number, number) < 0) low = middle + 1;
        else high = middle;
      }
      order.set(old.subarray(from, low), from + i);
      order[low + i] = number;
      from = low;
    }
    order.set(old.subarray(from), from + fresh.length);
    this.#order = order;
  }

  #compare(a: number, b: number): number {
    const bytes = this.#bytes;
    const aStart = this.#starts[a] as number;
    const bStart = this.#starts[b] as number;
    const aLength = this.#lengths[a] as number;
    const bLength = this.#lengths[b] as number;
    const shared = Math.min(aLength, bLength);
    for (let i = 0; i < shared; i += 1) {
      const difference = (bytes[aStart + i] as number) - (bytes[bStart + i] as number);
      if (difference !== 0) return difference;
    }
    return aLength - bLength;
  }

  /** First position in the order whose name is not below the bytes. */
  #firstNotBelow(part: Uint8Array): number {
    const order = this.order();
    let low = 0;
    let high = order.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#comparePrefix(order[middle] as number, part) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Compares the beginning of a name with these bytes; a shorter name with an equal beginning is below. */
  #comparePrefix(number: number, part: Uint8Array): number {
    const start = this.#starts[number] as number;
    const length = this.#lengths[number] as number;
    for (let i = 0; i < part.length; i += 1) {
      if (i >= length) return -1;
      const difference = (this.#bytes[start + i] as number) - (part[i] as number);
      if (difference !== 0) return difference;
    }
    return 0;
  }
}

/** One byte for each UTF-16 unit. */
export function bytesOf(text: string): Uint8Array {
  return Uint8Array.from({ length: text.length }, (_, i) => byteOf(text.charCodeAt(i)));
}

/** No name contains non-ASCII characters; truncated to a byte they would become another character. */
function byteOf(unit: number): number {
  return unit < 128 ? unit : 255;
}

/** A longer copy with spare capacity. */
export function grown<T extends Uint8Array | Uint16Array | Uint32Array | Float64Array>(column: T, min: number): T {
  const Column = column.constructor as new (length: number) => T;
  const longer = new Column(Math.max(min, column.length + (column.length >>> 1)));
  longer.set(column);
  return longer;
}
