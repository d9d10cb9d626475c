// The members of a sparse set in order. They are split into chunks of 2^8 or 2^16 numbers, of which a member stores the
// low bits only: one or two bytes instead of four. Very few members are stored as they are.
import { eachCommon, lowerBound } from './set-kernels.ts';

export type Lows = Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer>;
/** Low bits of a member; 32: there is a single chunk. */
export type Shift = 8 | 16 | 32;

/** The arrays of a set, without spare capacity. */
export interface MemberArrays {
  readonly shift: Shift;
  readonly lows: Lows;
  /** By group of 2^16 numbers: members before it; one more entry for the end. Empty with a shift of 32. */
  readonly bases: Uint32Array<ArrayBuffer>;
  /** By chunk of 2^8 numbers: members of its group before it; one more entry, 0. Empty with another shift. */
  readonly offsets: Uint16Array<ArrayBuffer>;
}

const GROUP = 16;
const CHUNKS_OF_GROUP = 2 ** (GROUP - 8);

const groupsBelow = (limit: number): number => Math.ceil(limit / 2 ** GROUP);
/** Entries by chunk in so many groups. */
export const offsetsOf = (shift: Shift, groups: number): number => (shift === 8 ? groups * CHUNKS_OF_GROUP + 1 : 0);

/** The shift that needs the fewest bytes for this many members below `limit`. */
export function shiftFor(size: number, limit: number): Shift {
  const groups = groupsBelow(limit);
  const bases = 4 * (groups + 1);
  const [bytes8, bytes16, bytes32] = [size + bases + 2 * offsetsOf(8, groups), size * 2 + bases, size * 4];
  if (bytes32 <= bytes16 && bytes32 <= bytes8) return 32;
  return bytes16 <= bytes8 ? 16 : 8;
}

const lowsOf = (shift: Shift, length: number): Lows =>
  shift === 8 ? new Uint8Array(length) : shift === 16 ? new Uint16Array(length) : new Uint32Array(length);

export class SparseMembers {
  #shift: Shift;
  /** With spare capacity at the end. */
  #lows: Lows;
  #bases: Uint32Array<ArrayBuffer>;
  #offsets: Uint16Array<ArrayBuffer>;
  /** Up to that of the greatest member. */
  #groups = 0;
  #size = 0;
  #last = -1;

  /** Without members; `append` takes up to `capacity` of them below `limit`. */
  constructor(capacity = 0, limit = 0) {
    this.#shift = shiftFor(capacity, limit);
    const groups = this.#shift === 32 ? -1 : groupsBelow(limit);
    this.#lows = lowsOf(this.#shift, capacity);
    this.#bases = new Uint32Array(groups + 1);
    this.#offsets = new Uint16Array(offsetsOf(this.#shift, groups));
  }

  /** Takes ownership of the array of numbers in ascending order. */
  static ofSorted(members: Uint32Array<ArrayBuffer>): SparseMembers {
    return SparseMembers.ofArrays({ shift: 32, lows: members, bases: new Uint32Array(0), offsets: new Uint16Array(0) });
  }

  /** Takes ownership of the arrays. */
  static ofArrays({ shift, lows, bases, offsets }: MemberArrays): SparseMembers {
    const sparse = new SparseMembers();
    sparse.#shift = shift;
    sparse.#lows = lows;
    sparse.#bases = bases;
    sparse.#offsets = offsets;
    sparse.#size = lows.length;
    sparse.#groups = Math.max(0, bases.length - 1);
    sparse.#trim();
    return sparse;
  }

  /** Views that are valid until the next change. */
  arrays(): MemberArrays {
    return {
      shift: this.#shift,
      lows: this.#lows.subarray(0, this.#size),
      bases: this.#shift === 32 ? this.#bases : this.#bases.subarray(0, this.#groups + 1),
      offsets: this.#offsets.subarray(0, offsetsOf(this.#shift, this.#groups)),
    };
  }

  copy(): SparseMembers {
    const { shift, lows, bases, offsets } = this.arrays();
    return SparseMembers.ofArrays({ shift, lows: lows.slice(), bases: bases.slice(), offsets: offsets.slice() });
  }

  get size(): number {
    return this.#size;
  }

  get byteLength(): number {
    return this.#lows.byteLength + this.#bases.byteLength + this.#offsets.byteLength;
  }

  /** The greatest member; -1 without members. */
  get last(): number {
    return this.#last;
  }

  has(member: number): boolean {
    if (member > this.#last) return false;
    const at = this.#find(member);
    return at < this.#endOf(member) && this.#lows[at] === this.#lowOf(member);
  }

  /** Adds a number above all members, for which there is capacity; `finish` follows the last one. */
  append(member: number): void {
    const at = this.#size;
    // Typed arrays store the low bits of a number.
    this.#lows[at] = member;
    if (this.#shift !== 32) this.#startThrough(member >>> this.#shift, at);
    this.#size = at + 1;
    this.#last = member;
  }

  finish(): this {
    if (this.#shift === 32 || this.#size === 0) return this;
    this.#groups = (this.#last >>> GROUP) + 1;
    this.#startThrough(this.#groups * 2 ** (GROUP - this.#shift), this.#size);
    return this;
  }

  /** Adds a number that is not a member. In ascending order each call takes constant time. */
  add(member: number): void {
    const isFull = this.#size === this.#lows.length;
    const group = member >>> GROUP;
    if (isFull || (this.#shift !== 32 && group >= this.#bases.length - 1)) this.#grow(Math.max(member, this.#last) + 1);
    const at = this.#find(member);
    const lows = this.#lows;
    if (at < this.#size) lows.copyWithin(at + 1, at, this.#size);
    lows[at] = this.#lowOf(member);
    if (this.#shift !== 32 && group >= this.#groups) {
      this.#bases.fill(this.#size, this.#groups, group + 2);
      this.#groups = group + 1;
    }
    this.#size += 1;
    this.#last = Math.max(this.#last, member);
    this.#count(member, 1);
  }

  /** Returns whether it was a member. */
  delete(member: number): boolean {
    if (!this.has(member)) return false;
    const at = this.#find(member);
    this.#lows.copyWithin(at, at + 1, this.#size);
    this.#size -= 1;
    this.#count(member, -1);
    if (member === this.#last) this.#trim();
    if (this.#size * 4 < this.#lows.length) this.#rebuild(this.#last + 1, this.#size * 2);
    return true;
  }

  /** In ascending order. */
  each(visit: (member: number) => void): void {
    const lows = this.#lows;
    this.#eachChunk((base, from, to) => {
      for (let i = from; i < to; i += 1) visit(base + (lows[i] as number));
    });
  }

  /** Members of both in ascending order; the other set has more. */
  eachIn(many: SparseMembers, visit: (member: number) => void): void {
    const [own, lows] = [this.#lows, many.#lows];
    const isAlike = this.#shift === many.#shift;
    this.#eachChunk((base, from, to) => {
      if (isAlike) {
        const end = many.#endOf(base);
        const start = base > many.#last ? end : many.#startOf(base);
        eachCommon([own, from, to], [lows, start, end], (low) => visit(base + low));
        return;
      }
      for (let i = from; i < to; i += 1) {
        const member = base + (own[i] as number);
        if (many.has(member)) visit(member);
      }
    });
  }

  /** The first members as a copy; all by default. */
  toArray(count: number = this.#size): Uint32Array<ArrayBuffer> {
    const size = Math.min(count, this.#size);
    const members = new Uint32Array(size);
    const lows = this.#lows;
    this.#eachChunk((base, from, to) => {
      for (let i = from; i < to; i += 1) members[i] = base + (lows[i] as number);
    }, size);
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
    this.#eachChunk((base, from, to) => {
      for (let i = from; i < to; i += 1) {
        const member = base + (lows[i] as number);
        count += ((bits[member >>> 5] ?? 0) >>> (member & 31)) & 1;
      }
    });
    return count;
  }

  /** Sets the bits of all members. */
  addTo(bits: Uint32Array): void {
    const lows = this.#lows;
    this.#eachChunk((base, from, to) => {
      for (let i = from; i < to; i += 1) {
        const member = base + (lows[i] as number);
        bits[member >>> 5] = (bits[member >>> 5] as number) | (1 << (member & 31));
      }
    });
  }

  /** The chunks with members, up to this many of these: the first number of each, and where its members are. */
  #eachChunk(visit: (base: number, from: number, to: number) => void, size: number = this.#size): void {
    if (this.#shift === 32) {
      visit(0, 0, size);
      return;
    }
    const width = 2 ** this.#shift;
    for (let base = 0, from = 0; from < size; base += width) {
      const to = Math.min(this.#startOf(base + width), size);
      if (to > from) visit(base, from, to);
      from = to;
    }
  }

  #lowOf(member: number): number {
    return this.#shift === 32 ? member : member & (2 ** this.#shift - 1);
  }

  /** Where the chunk of a number up to the greatest member, or the one after it, begins. */
  #startOf(member: number): number {
    if (this.#shift === 32) return 0;
    const base = this.#bases[member >>> GROUP] as number;
    return this.#shift === 8 ? base + (this.#offsets[member >>> 8] as number) : base;
  }

  /** Where the chunk of a number ends. */
  #endOf(member: number): number {
    return this.#shift === 32 || member > this.#last ? this.#size : this.#startOf(member + 2 ** this.#shift);
  }

  /** The position of a member, or of the first greater one. */
  #find(member: number): number {
    if (member > this.#last) return this.#size;
    return lowerBound(this.#lows, this.#endOf(member), this.#lowOf(member), this.#startOf(member));
  }

  /** The chunks after that of the last member begin at a position, up to this one. */
  #startThrough(chunk: number, at: number): void {
    const first = this.#last < 0 ? 0 : (this.#last >>> this.#shift) + 1;
    for (let next = first; next <= chunk; next += 1) {
      const group = next >>> (GROUP - this.#shift);
      if ((next << this.#shift) % 2 ** GROUP === 0) this.#bases[group] = at;
      if (this.#shift === 8) this.#offsets[next] = at - (this.#bases[group] as number);
    }
  }

  /** Moves the starts of the chunks after that of a member. */
  #count(member: number, by: 1 | -1): void {
    if (this.#shift === 32) return;
    const group = member >>> GROUP;
    for (let next = group + 1; next <= this.#groups; next += 1) this.#bases[next] = (this.#bases[next] as number) + by;
    if (this.#shift !== 8) return;
    for (let next = (member >>> 8) + 1; next < (group + 1) * CHUNKS_OF_GROUP; next += 1)
      this.#offsets[next] = (this.#offsets[next] as number) + by;
  }

  /** Finds the greatest member; its group is the last one. */
  #trim(): void {
    while (this.#groups > 0 && this.#bases[this.#groups - 1] === this.#size) this.#groups -= 1;
    if (this.#size === 0) {
      this.#last = -1;
      return;
    }
    let chunk = 0;
    if (this.#shift !== 32) {
      chunk = this.#groups * 2 ** (GROUP - this.#shift) - 1;
      while (this.#startOf(chunk * 2 ** this.#shift) === this.#size) chunk -= 1;
    }
    this.#last = chunk * 2 ** this.#shift + (this.#lows[this.#size - 1] as number);
  }

  #grow(limit: number): void {
    const capacity = Math.max(4, this.#size + (this.#size >>> 3) + 1);
    if (shiftFor(capacity, limit) !== this.#shift || groupsBelow(limit) >= this.#bases.length) {
      this.#rebuild(limit + (limit >>> 4), capacity);
      return;
    }
    if (this.#size < this.#lows.length) return;
    const lows = lowsOf(this.#shift, capacity);
    lows.set(this.#lows);
    this.#lows = lows;
  }

  /** In the smallest form for its members. */
  #rebuild(limit: number, capacity: number): void {
    const rebuilt = new SparseMembers(capacity, limit);
    this.each((member) => rebuilt.append(member));
    rebuilt.finish();
    this.#shift = rebuilt.#shift;
    this.#lows = rebuilt.#lows;
    this.#bases = rebuilt.#bases;
    this.#offsets = rebuilt.#offsets;
    this.#groups = rebuilt.#groups;
  }
}
