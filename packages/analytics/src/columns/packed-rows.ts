// Rows of numbers of different lengths, one after the other without gaps, for the numbers of one page. Values and ends
// are as wide as the largest one needs.
import { PAGE_SIZE } from './pages.ts';

export type RowValues = Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer>;
export type RowEnds = Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer>;

export class PackedRows {
  #values: RowValues;
  /** By row: the end of its values; valid below `#rows`. */
  #ends: RowEnds;
  #rows: number;

  /** Takes ownership of the arrays; `ends` of all rows of a page, of which the first `rows` are used. */
  constructor(values: RowValues = new Uint8Array(0), ends: RowEnds = new Uint16Array(PAGE_SIZE), rows = 0) {
    this.#values = values;
    this.#ends = ends;
    this.#rows = rows;
  }

  copy(): PackedRows {
    return new PackedRows(this.#values.slice(), this.#ends.slice(), this.#rows);
  }

  get values(): RowValues {
    return this.#values;
  }

  get byteLength(): number {
    return this.#values.byteLength + this.#ends.byteLength;
  }

  /** Values of all rows. */
  get used(): number {
    return this.#rows === 0 ? 0 : (this.#ends[this.#rows - 1] as number);
  }

  from(row: number): number {
    return row === 0 ? 0 : this.to(row - 1);
  }

  to(row: number): number {
    return row < this.#rows ? (this.#ends[row] as number) : this.used;
  }

  set(row: number, values: ArrayLike<number>): void {
    const [from, to, used] = [this.from(row), this.to(row), this.used];
    const shift = values.length - (to - from);
    this.#reserve(used + shift, values);
    const ends = this.#ends;
    if (shift !== 0) {
      this.#values.copyWithin(to + shift, to, used);
      for (let next = row; next < this.#rows; next += 1) ends[next] = (ends[next] as number) + shift;
    }
    if (row >= this.#rows) {
      ends.fill(used, this.#rows, row);
      ends[row] = used + shift;
      this.#rows = row + 1;
    }
    for (let i = 0; i < values.length; i += 1) this.#values[from + i] = values[i] as number;
  }

  /** Releases spare capacity. */
  trim(): void {
    if (this.#values.length > this.used) this.#values = this.#values.slice(0, this.used);
  }

  /** The first rows as arrays, for a snapshot; views that are valid until the next change. */
  arrays(rows: number): { readonly values: RowValues; readonly ends: RowEnds } {
    if (this.#rows < rows) {
      this.#ends.fill(this.used, this.#rows, rows);
      this.#rows = rows;
    }
    return { values: this.#values.subarray(0, this.used), ends: this.#ends.subarray(0, rows) };
  }

  #reserve(length: number, values: ArrayLike<number>): void {
    if (length > 0xffff && this.#ends instanceof Uint16Array) this.#ends = Uint32Array.from(this.#ends);
    let max = 0;
    for (let i = 0; i < values.length; i += 1) max = Math.max(max, values[i] as number);
    const width = Math.max(this.#values.BYTES_PER_ELEMENT, max > 0xffff ? 4 : max > 0xff ? 2 : 1);
    if (length <= this.#values.length && width === this.#values.BYTES_PER_ELEMENT) return;
    const capacity = length <= this.#values.length ? this.#values.length : length + (length >>> 3);
    const wider = rowValues(width, capacity);
    wider.set(this.#values);
    this.#values = wider;
  }
}

function rowValues(width: number, length: number): RowValues {
  if (width === 1) return new Uint8Array(length);
  return width === 2 ? new Uint16Array(length) : new Uint32Array(length);
}
