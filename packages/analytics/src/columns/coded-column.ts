// A column of one page with few different values: of each row the code of its value, in as few bits as there are values.
import { PAGE_SIZE } from './pages.ts';

type Codes = Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer>;

/** Bits of a code: of several rows in one byte, of one row, or of one row in two bytes, where each may have its own value. */
const WIDTHS = [0, 1, 2, 4, 8, 16] as const;
/** Values that no row has any more are dropped when there are so many. */
const MAX_VALUES = 2 * PAGE_SIZE;
const NO_CODES = new Uint8Array(0);

export class CodedColumn {
  #bits: number;
  #codes: Codes;
  /** By code. */
  #values: Uint32Array<ArrayBuffer>;

  /** Takes ownership of the arrays; by default all rows are 0. */
  constructor(codes: Codes = NO_CODES, values: Uint32Array<ArrayBuffer> = new Uint32Array(1)) {
    this.#bits = (codes.byteLength * 8) / PAGE_SIZE;
    this.#codes = codes;
    this.#values = values;
  }

  copy(): CodedColumn {
    return new CodedColumn(this.#bits === 0 ? NO_CODES : this.#codes.slice(), this.#values.slice());
  }

  /** For a snapshot; valid until the next change. */
  get codes(): Codes {
    return this.#codes;
  }

  get values(): Uint32Array<ArrayBuffer> {
    return this.#values;
  }

  get byteLength(): number {
    return this.#codes.byteLength + this.#values.byteLength;
  }

  /** Whether the codes, which may be of any type, are those of a page and each has a value. */
  get isSound(): boolean {
    const isWidth = WIDTHS.some((bits) => bits === this.#bits);
    if (!isWidth || !(this.#codes instanceof (this.#bits === 16 ? Uint16Array : Uint8Array))) return false;
    if (!(this.#values instanceof Uint32Array)) return false;
    if (this.#values.length >= 2 ** this.#bits) return true;
    for (let row = 0; row < PAGE_SIZE; row += 1) if (this.#codeOf(row) >= this.#values.length) return false;
    return true;
  }

  get(row: number): number {
    return this.#values[this.#codeOf(row)] as number;
  }

  /** `value` has 32 bits. */
  set(row: number, value: number): void {
    const unsigned = value >>> 0;
    if (this.get(row) === unsigned) return;
    const known = this.#values.indexOf(unsigned);
    this.#write(row, known < 0 ? this.#add(unsigned) : known);
  }

  #codeOf(row: number): number {
    const bits = this.#bits;
    if (bits >= 8) return this.#codes[row] as number;
    if (bits === 0) return 0;
    const at = row * bits;
    return ((this.#codes[at >>> 3] as number) >>> (at & 7)) & ((1 << bits) - 1);
  }

  #write(row: number, code: number): void {
    const bits = this.#bits;
    if (bits >= 8) this.#codes[row] = code;
    else if (bits > 0) {
      const [at, shift] = [(row * bits) >>> 3, (row * bits) & 7];
      const kept = (this.#codes[at] as number) & ~(((1 << bits) - 1) << shift);
      this.#codes[at] = kept | (code << shift);
    }
  }

  /** The code of a new value. */
  #add(value: number): number {
    if (this.#values.length >= Math.min(2 ** this.#bits, MAX_VALUES)) this.#recode();
    const code = this.#values.length;
    const values = new Uint32Array(code + 1);
    values.set(this.#values);
    values[code] = value;
    this.#values = values;
    return code;
  }

  /** Drops the values that no row has, and makes the codes as wide as one more value needs. */
  #recode(): void {
    const before = new Uint16Array(PAGE_SIZE);
    // One more than the new code; 0: not used.
    const codes = new Uint16Array(this.#values.length);
    const used: number[] = [];
    for (let row = 0; row < PAGE_SIZE; row += 1) {
      const old = this.#codeOf(row);
      before[row] = old;
      if (codes[old] === 0) codes[old] = used.push(this.#values[old] as number);
    }
    this.#values = Uint32Array.from(used);
    this.#bits = WIDTHS.find((bits) => used.length < 2 ** bits) ?? 16;
    this.#codes = this.#bits === 16 ? new Uint16Array(PAGE_SIZE) : new Uint8Array((PAGE_SIZE * this.#bits) / 8);
    for (let row = 0; row < PAGE_SIZE; row += 1) this.#write(row, (codes[before[row] as number] as number) - 1);
  }
}
