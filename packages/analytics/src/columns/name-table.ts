// The names of all domains by number, in one byte array.
import { byteOf } from './byte-text.ts';
import { SortedNames } from './sorted-names.ts';

export interface NameColumns {
  readonly nameBytes: Uint8Array<ArrayBuffer>;
  readonly nameStarts: Uint32Array<ArrayBuffer>;
  readonly nameLengths: Uint8Array<ArrayBuffer>;
  readonly nameOrder: Uint32Array<ArrayBuffer>;
}

/** Domain names are ASCII: A-labels, at most 253 bytes (RFC 1035, 2.3.4). */
export class NameTable {
  #bytes: Uint8Array<ArrayBuffer>;
  #used: number;
  /** By domain number: the offset of its name; 0 for an unused number. */
  #starts: Uint32Array<ArrayBuffer>;
  #lengths: Uint8Array<ArrayBuffer>;
  #limit: number;
  /** Bytes of removed names. */
  #wasted = 0;
  /** The same names in their order. */
  readonly sorted: SortedNames;

  /** Takes ownership of the arrays of a snapshot. */
  constructor(columns?: NameColumns) {
    this.#bytes = columns?.nameBytes ?? new Uint8Array(1 << 16);
    // Offset 0 means "no name".
    this.#used = columns?.nameBytes.length ?? 1;
    this.#starts = columns?.nameStarts ?? new Uint32Array(1 << 10);
    this.#lengths = columns?.nameLengths ?? new Uint8Array(1 << 10);
    this.#limit = columns?.nameStarts.length ?? 0;
    this.sorted = new SortedNames(this, columns?.nameOrder);
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
    this.sorted.add(number);
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
  }

  remove(number: number): void {
    if (!this.has(number)) return;
    this.#starts[number] = 0;
    this.#wasted += this.#lengths[number] as number;
    this.sorted.remove(number);
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

  /** Compares two names by their bytes. */
  compare(a: number, b: number): number {
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

  /** Compares the beginning of a name with these bytes; a shorter name with an equal beginning comes before. */
  compareStart(number: number, part: Uint8Array): number {
    const start = this.#starts[number] as number;
    const length = this.#lengths[number] as number;
    for (let i = 0; i < part.length; i += 1) {
      if (i >= length) return -1;
      const difference = (this.#bytes[start + i] as number) - (part[i] as number);
      if (difference !== 0) return difference;
    }
    return 0;
  }

  /** The table as arrays, for a snapshot; views that are valid until the next change. */
  columns(): NameColumns {
    const nameOrder = this.sorted.numbers();
    if (this.#wasted * 2 > this.#used) this.#compact();
    return {
      nameBytes: this.#bytes.subarray(0, this.#used),
      nameStarts: this.#starts.subarray(0, this.#limit),
      nameLengths: this.#lengths.subarray(0, this.#limit),
      nameOrder,
    };
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
}

/** A longer copy with spare capacity. */
export function grown<T extends Uint8Array | Uint16Array | Uint32Array | Float64Array>(column: T, min: number): T {
  const Column = column.constructor as new (length: number) => T;
  const longer = new Column(Math.max(min, column.length + (column.length >>> 1)));
  longer.set(column);
  return longer;
}
