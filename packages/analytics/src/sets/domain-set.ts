// A set of domain numbers: a sorted array while it is sparse, a bitmap once that is smaller. Most queries reduce to
// counting an intersection (set-operations.ts); docs/decisions explains why this is not a library of bitmaps.
import { lowerBound } from './set-kernels.ts';

/** A bitmap uses one bit per number below the largest; an array 32 bits per member. */
const BITS_PER_MEMBER = 32;
const EMPTY = new Uint32Array(0);

export class DomainSet {
  /** Members in order, with spare capacity at the end; undefined for a bitmap. */
  #sorted: Uint32Array | undefined = EMPTY;
  #bits: Uint32Array<ArrayBuffer> = EMPTY;
  #size = 0;

  static of(members: Iterable<number>): DomainSet {
    const set = new DomainSet();
    for (const member of members) set.add(member);
    return set;
  }

  /** From numbers in ascending order; takes ownership of the array. */
  static ofSorted(members: Uint32Array): DomainSet {
    const set = new DomainSet();
    set.#sorted = members;
    set.#size = members.length;
    return set;
  }

  /** From a bitmap with `size` bits set; takes ownership of the array. */
  static ofBits(bits: Uint32Array<ArrayBuffer>, size: number): DomainSet {
    const set = new DomainSet();
    set.#sorted = undefined;
    set.#bits = bits;
    set.#size = size;
    if (isThin(size, bits.length)) set.#toSorted();
    return set;
  }

  get size(): number {
    return this.#size;
  }

  /** Size in bytes, without the object itself. */
  get byteLength(): number {
    return this.#sorted ? this.#sorted.byteLength : this.#bits.byteLength;
  }

  /** The members in order, as a view that is valid until the next change; undefined for a bitmap. */
  get sorted(): Uint32Array | undefined {
    return this.#sorted?.subarray(0, this.#size);
  }

  /** The bitmap, which must not be changed; empty for a sorted array. */
  get bits(): Uint32Array<ArrayBuffer> {
    return this.#bits;
  }

  has(member: number): boolean {
    const sorted = this.#sorted;
    if (sorted) {
      const at = lowerBound(sorted, this.#size, member);
      return at < this.#size && sorted[at] === member;
    }
    return ((this.#bits[member >>> 5] ?? 0) & (1 << (member & 31))) !== 0;
  }

  /** Returns whether it is new. In ascending order each call takes constant time. */
  add(member: number): boolean {
    const sorted = this.#sorted;
    if (!sorted) return this.#addBit(member);
    const last = this.#size === 0 ? -1 : (sorted[this.#size - 1] ?? -1);
    if (member === last) return false;
    const at = member > last ? this.#size : lowerBound(sorted, this.#size, member);
    if (at < this.#size && sorted[at] === member) return false;
    if (isDense(this.#size, Math.max(last, member))) {
      this.#toBits(Math.max(last, member));
      return this.#addBit(member);
    }
    let array = sorted;
    if (this.#size === sorted.length) {
      array = new Uint32Array(Math.max(4, this.#size + (this.#size >>> 1)));
      array.set(sorted);
      this.#sorted = array;
    }
    if (at < this.#size) array.copyWithin(at + 1, at, this.#size);
    array[at] = member;
    this.#size += 1;
    return true;
  }

  /** Returns whether it was a member. */
  delete(member: number): boolean {
    const sorted = this.#sorted;
    if (!sorted) {
      const word = this.#bits[member >>> 5] ?? 0;
      if ((word & (1 << (member & 31))) === 0) return false;
      this.#bits[member >>> 5] = word & ~(1 << (member & 31));
      this.#size -= 1;
      if (isThin(this.#size, this.#bits.length)) this.#toSorted();
      return true;
    }
    const at = lowerBound(sorted, this.#size, member);
    if (at >= this.#size || sorted[at] !== member) return false;
    sorted.copyWithin(at, at + 1, this.#size);
    this.#size -= 1;
    if (this.#size * 4 < sorted.length) this.#sorted = sorted.slice(0, this.#size * 2);
    return true;
  }

  /** In ascending order. The set must not change during the call. */
  each(visit: (member: number) => void): void {
    const sorted = this.#sorted;
    if (sorted) {
      for (let i = 0; i < this.#size; i += 1) visit(sorted[i] as number);
      return;
    }
    const bits = this.#bits;
    for (let word = 0; word < bits.length; word += 1) {
      for (let rest = bits[word] as number; rest !== 0; rest &= rest - 1) {
        visit(word * 32 + (31 - Math.clz32(rest & -rest)));
      }
    }
  }

  /** The smallest members in order, without visiting the rest. */
  first(count: number): number[] {
    const sorted = this.#sorted;
    if (sorted) return Array.from(sorted.subarray(0, Math.min(count, this.#size)));
    const members: number[] = [];
    for (let word = 0; word < this.#bits.length && members.length < count; word += 1) {
      for (let rest = this.#bits[word] as number; rest !== 0 && members.length < count; rest &= rest - 1) {
        members.push(word * 32 + (31 - Math.clz32(rest & -rest)));
      }
    }
    return members;
  }

  /** Members in ascending order, as a copy. */
  toArray(): Uint32Array {
    if (this.#sorted) return this.#sorted.slice(0, this.#size);
    const members = new Uint32Array(this.#size);
    let at = 0;
    this.each((member) => {
      members[at++] = member;
    });
    return members;
  }

  #addBit(member: number): boolean {
    const word = member >>> 5;
    if (word >= this.#bits.length) {
      // The set is dense, but this member is far away: a bitmap that includes it would be larger than the list.
      if (isThin(this.#size, word + 1)) {
        this.#toSorted();
        return this.add(member);
      }
      const grown = new Uint32Array(word + 1 + (word >>> 3));
      grown.set(this.#bits);
      this.#bits = grown;
    }
    const before = this.#bits[word] as number;
    const after = (before | (1 << (member & 31))) >>> 0;
    if (after === before) return false;
    this.#bits[word] = after;
    this.#size += 1;
    return true;
  }

  #toBits(largest: number): void {
    const bits = new Uint32Array((largest >>> 5) + 1);
    this.each((member) => {
      bits[member >>> 5] = (bits[member >>> 5] as number) | (1 << (member & 31));
    });
    this.#sorted = undefined;
    this.#bits = bits;
  }

  #toSorted(): void {
    this.#sorted = this.toArray();
    this.#bits = EMPTY;
  }
}

/** Whether this many members below `limit` are stored as a bitmap. */
export function isDense(size: number, limit: number): boolean {
  return size * BITS_PER_MEMBER > limit + 1_024;
}

/**
 * Whether a bitmap of this many words has too few members: half of the threshold for bitmaps, which prevents
 * oscillation.
 */
function isThin(size: number, words: number): boolean {
  return size * BITS_PER_MEMBER * 2 < words * 32;
}
