// The members of a sparse set in order, in chunks (member-arrays.ts).
import {
  CHUNKS_OF_GROUP,
  GROUP,
  groupsBelow,
  type Lows,
  lowsOf,
  MemberAppender,
  type MemberArrays,
  offsetsOf,
  type Shift,
  shiftFor,
  unchunked,
} from './member-arrays.ts';
import { lowerBound } from './set-kernels.ts';

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

  /** Takes ownership of the arrays, which have no spare capacity; the members of `lows` count. */
  constructor({ shift, lows, bases, offsets }: MemberArrays = unchunked(new Uint32Array(0))) {
    this.#shift = shift;
    this.#lows = lows;
    this.#bases = bases;
    this.#offsets = offsets;
    this.#size = lows.length;
    this.#groups = Math.max(0, bases.length - 1);
    this.#trim();
  }

  /** Views that are valid until the next change. */
  get arrays(): MemberArrays {
    return {
      shift: this.#shift,
      lows: this.#lows.subarray(0, this.#size),
      bases: this.#shift === 32 ? this.#bases : this.#bases.subarray(0, this.#groups + 1),
      offsets: this.#offsets.subarray(0, offsetsOf(this.#shift, this.#groups)),
    };
  }

  /** Continues in copies, with their spare capacity: the views given before stay as they are. */
  own(): void {
    this.#lows = this.#lows.slice();
    this.#bases = this.#bases.slice();
    this.#offsets = this.#offsets.slice();
  }

  /** With spare capacity at the end. */
  get lows(): Lows {
    return this.#lows;
  }

  get shift(): Shift {
    return this.#shift;
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
    this.eachChunk((base, from, to) => {
      for (let i = from; i < to; i += 1) visit(base + (lows[i] as number));
    });
  }

  /** The first members as a copy; all by default. */
  toArray(count: number = this.#size): Uint32Array<ArrayBuffer> {
    const size = Math.min(count, this.#size);
    const members = new Uint32Array(size);
    const lows = this.#lows;
    this.eachChunk((base, from, to) => {
      for (let i = from; i < to; i += 1) members[i] = base + (lows[i] as number);
    }, size);
    return members;
  }

  /** The chunks with members, up to this many of these: the first number of each, and where its members are. */
  eachChunk(visit: (base: number, from: number, to: number) => void, size: number = this.#size): void {
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

  /** Where the members in the chunk of a number are: from, to (exclusive). */
  chunkAt(member: number): readonly [from: number, to: number] {
    return member > this.#last ? [this.#size, this.#size] : [this.#startOf(member), this.#endOf(member)];
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
    const rebuilt = new MemberAppender(capacity, limit);
    this.each((member) => rebuilt.append(member));
    const { shift, lows, bases, offsets } = rebuilt.finish();
    this.#shift = shift;
    this.#lows = lows;
    this.#bases = bases;
    this.#offsets = offsets;
    this.#groups = Math.max(0, bases.length - 1);
    this.#trim();
  }
}
