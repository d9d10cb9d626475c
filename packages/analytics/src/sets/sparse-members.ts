// The members of a sparse set in order. They are split into chunks of 2^8 or 2^16 numbers, of which a member stores the
// low bits only: one or two bytes instead of four. Very few members are stored as they are.
import { lowerBound } from './set-kernels.ts';

type Lows = Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer>;
/** Low bits of a member; 32: there is a single chunk. */
export type Shift = 8 | 16 | 32;

const NONE = new Uint32Array(0);

/** The shift that needs the fewest bytes for this many members below `limit`. */
export function shiftFor(size: number, limit: number): Shift {
  const [bytes8, bytes16, bytes32] = ([8, 16, 32] as const).map((shift) => bytesFor(shift, size, limit)) as [
    number,
    number,
    number,
  ];
  if (bytes32 <= bytes16 && bytes32 <= bytes8) return 32;
  return bytes16 <= bytes8 ? 16 : 8;
}

const bytesFor = (shift: Shift, size: number, limit: number): number =>
  (size * shift) / 8 + (shift === 32 ? 0 : 4 * (limit / 2 ** shift + 2));

/** Number of chunks below `limit`. */
export const chunksBelow = (shift: Shift, limit: number): number => (shift === 32 ? 0 : Math.ceil(limit / 2 ** shift));

export const lowsOf = (shift: Shift, length: number): Lows =>
  shift === 8 ? new Uint8Array(length) : shift === 16 ? new Uint16Array(length) : new Uint32Array(length);

export class SparseMembers {
  #shift: Shift = 32;
  /** With spare capacity at the end. */
  #lows: Lows = NONE;
  /** By chunk: where its members begin; one more entry for the end. Unused with a shift of 32. */
  #starts: Uint32Array<ArrayBuffer> = NONE;
  /** Chunks with an entry in `#starts`. */
  #chunks = 0;
  #size = 0;

  /** Takes ownership of the array of numbers in ascending order. */
  static ofSorted(members: Uint32Array<ArrayBuffer>): SparseMembers {
    const sparse = new SparseMembers();
    sparse.#lows = members;
    sparse.#size = members.length;
    return sparse;
  }

  /** Takes ownership of the arrays. */
  static ofChunks(shift: Shift, lows: Lows, starts: Uint32Array<ArrayBuffer>): SparseMembers {
    const sparse = new SparseMembers();
    sparse.#shift = shift;
    sparse.#lows = lows;
    sparse.#starts = starts;
    sparse.#size = lows.length;
    if (shift === 32) return sparse;
    sparse.#chunks = starts.length - 1;
    sparse.#trim();
    return sparse;
  }

  get size(): number {
    return this.#size;
  }

  get byteLength(): number {
    return this.#lows.byteLength + this.#starts.byteLength;
  }

  /** The greatest member; -1 without members. */
  get last(): number {
    if (this.#size === 0) return -1;
    const low = this.#lows[this.#size - 1] as number;
    return this.#shift === 32 ? low : (this.#chunks - 1) * 2 ** this.#shift + low;
  }

  has(member: number): boolean {
    const at = this.#find(member);
    return at < this.#endOf(member) && this.#lows[at] === this.#lowOf(member);
  }

  /** Adds a number that is not a member. In ascending order each call takes constant time. */
  add(member: number): void {
    const isFull = this.#size === this.#lows.length;
    const needsChunks = this.#shift !== 32 && member >>> this.#shift >= this.#starts.length - 1;
    if (isFull || needsChunks) this.#grow(Math.max(member, this.last) + 1);
    const at = this.#find(member);
    const lows = this.#lows;
    if (at < this.#size) lows.copyWithin(at + 1, at, this.#size);
    lows[at] = this.#lowOf(member);
    this.#size += 1;
    if (this.#shift === 32) return;
    const chunk = member >>> this.#shift;
    if (chunk >= this.#chunks) this.#extend(chunk + 1);
    for (let next = chunk + 1; next <= this.#chunks; next += 1) {
      this.#starts[next] = (this.#starts[next] as number) + 1;
    }
  }

  /** Returns whether it was a member. */
  delete(member: number): boolean {
    const at = this.#find(member);
    if (at >= this.#endOf(member) || this.#lows[at] !== this.#lowOf(member)) return false;
    this.#lows.copyWithin(at, at + 1, this.#size);
    this.#size -= 1;
    if (this.#shift !== 32) {
      const starts = this.#starts;
      for (let next = (member >>> this.#shift) + 1; next <= this.#chunks; next += 1)
        starts[next] = (starts[next] as number) - 1;
      this.#trim();
    }
    if (this.#size * 4 < this.#lows.length) this.#rebuild(this.last + 1, this.#size * 2);
    return true;
  }

  /** In ascending order. */
  each(visit: (member: number) => void): void {
    const lows = this.#lows;
    if (this.#shift === 32) {
      for (let i = 0; i < this.#size; i += 1) visit(lows[i] as number);
      return;
    }
    const starts = this.#starts;
    for (let chunk = 0; chunk < this.#chunks; chunk += 1) {
      const base = chunk * 2 ** this.#shift;
      const to = starts[chunk + 1] as number;
      for (let i = starts[chunk] as number; i < to; i += 1) visit(base + (lows[i] as number));
    }
  }

  /** The first members as a copy; all by default. */
  toArray(count: number = this.#size): Uint32Array<ArrayBuffer> {
    const size = Math.min(count, this.#size);
    if (this.#shift === 32) return Uint32Array.from(this.#lows.subarray(0, size));
    const members = new Uint32Array(size);
    const lows = this.#lows;
    const starts = this.#starts;
    for (let chunk = 0, at = 0; at < size; chunk += 1) {
      const base = chunk * 2 ** this.#shift;
      const to = Math.min(starts[chunk + 1] as number, size);
      for (; at < to; at += 1) members[at] = base + (lows[at] as number);
    }
    return members;
  }

  /** All members: a view that is valid until the next change where they are stored as they are, else a copy. */
  view(): Uint32Array<ArrayBuffer> {
    return this.#shift === 32 ? (this.#lows.subarray(0, this.#size) as Uint32Array<ArrayBuffer>) : this.toArray();
  }

  /** The number of members in a bitmap. */
  countIn(bits: Uint32Array): number {
    const lows = this.#lows;
    let count = 0;
    if (this.#shift === 32) {
      for (let i = 0; i < this.#size; i += 1) count += bitOf(bits, lows[i] as number);
      return count;
    }
    const starts = this.#starts;
    for (let chunk = 0; chunk < this.#chunks; chunk += 1) {
      const base = chunk * 2 ** this.#shift;
      const to = starts[chunk + 1] as number;
      for (let i = starts[chunk] as number; i < to; i += 1) count += bitOf(bits, base + (lows[i] as number));
    }
    return count;
  }

  /** The last chunk has members. */
  #trim(): void {
    while (this.#chunks > 0 && this.#starts[this.#chunks - 1] === this.#size) this.#chunks -= 1;
  }

  #lowOf(member: number): number {
    return this.#shift === 32 ? member : member & ((1 << this.#shift) - 1);
  }

  /** Where the chunk of a number ends. */
  #endOf(member: number): number {
    if (this.#shift === 32) return this.#size;
    const chunk = member >>> this.#shift;
    return chunk < this.#chunks ? (this.#starts[chunk + 1] as number) : this.#size;
  }

  /** The position of a member, or of the first greater one. */
  #find(member: number): number {
    if (member > this.last) return this.#size;
    const from = this.#shift === 32 ? 0 : (this.#starts[member >>> this.#shift] as number);
    return lowerBound(this.#lows, this.#endOf(member), this.#lowOf(member), from);
  }

  #extend(chunks: number): void {
    if (chunks >= this.#starts.length) {
      const starts = new Uint32Array(chunks + 1 + (chunks >>> 4));
      starts.set(this.#starts);
      this.#starts = starts;
    }
    // The member that opens the chunk is counted by the caller.
    this.#starts.fill(this.#size - 1, this.#chunks, chunks + 1);
    this.#chunks = chunks;
  }

  #grow(limit: number): void {
    const capacity = Math.max(4, this.#size + (this.#size >>> 3) + 1);
    if (shiftFor(capacity, limit) !== this.#shift) {
      this.#rebuild(limit, capacity);
      return;
    }
    if (this.#size < this.#lows.length) return;
    const lows = lowsOf(this.#shift, capacity);
    lows.set(this.#lows);
    this.#lows = lows;
  }

  /** In the smallest form for its members. */
  #rebuild(limit: number, capacity: number): void {
    const members = this.toArray();
    const shift = shiftFor(capacity, limit);
    const lows = lowsOf(shift, capacity);
    this.#shift = shift;
    this.#lows = lows;
    const chunks = members.length === 0 ? 0 : chunksBelow(shift, (members.at(-1) as number) + 1);
    this.#starts = shift === 32 ? NONE : new Uint32Array(chunks + 1);
    this.#chunks = chunks;
    for (let i = 0, chunk = 0; i < members.length; i += 1) {
      const member = members[i] as number;
      lows[i] = this.#lowOf(member);
      if (shift !== 32) while (chunk < member >>> shift) this.#starts[++chunk] = i;
    }
    if (chunks > 0) this.#starts[chunks] = members.length;
  }
}

const bitOf = (bits: Uint32Array, member: number): number => ((bits[member >>> 5] ?? 0) >>> (member & 31)) & 1;
