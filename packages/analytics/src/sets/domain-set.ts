// A set of domain numbers: a list of members while it is sparse, a bitmap once that is smaller. Most queries reduce to
// counting an intersection (set-operations.ts); docs/decisions explains why this is not a library of bitmaps.
import { type MemberArrays, unchunked } from './member-arrays.ts';
import { SparseMembers } from './sparse-members.ts';

/**
 * A bitmap uses one bit per number below the largest; a list hardly more than 8 bits per member where there are so many.
 */
const BITS_PER_MEMBER = 9;

const EMPTY = new Uint32Array(0);

/** The arrays of a set; a shift of 0 is that of a bitmap. */
export type SetArrays = Omit<MemberArrays, 'shift'> & { readonly shift: MemberArrays['shift'] | 0 };

export class DomainSet {
  /** Undefined for a bitmap. */
  #sparse: SparseMembers | undefined = new SparseMembers();
  #bits: Uint32Array<ArrayBuffer> = EMPTY;
  /** Of a bitmap. */
  #size = 0;
  #isShared = false;

  /** Takes ownership of a bitmap with `size` bits set; without one the set is empty. */
  constructor(bitmap?: { readonly bits: Uint32Array<ArrayBuffer>; readonly size: number }) {
    if (!bitmap) return;
    this.#sparse = undefined;
    this.#bits = bitmap.bits;
    this.#size = bitmap.size;
    if (isThin(this.#size, this.#bits.length)) this.#toSparse();
  }

  static of(members: Iterable<number>): DomainSet {
    const set = new DomainSet();
    for (const member of members) set.add(member);
    return set;
  }

  /** From numbers in ascending order; takes ownership of them. */
  static ofSorted(members: Uint32Array<ArrayBuffer> | SparseMembers): DomainSet {
    const set = new DomainSet();
    set.#sparse = members instanceof SparseMembers ? members : new SparseMembers(unchunked(members));
    return set;
  }

  /** Its arrays as they are now, which stay so until `release`: the next change is made in a copy. */
  share(): { readonly arrays: SetArrays; readonly release: () => void } {
    this.#isShared = true;
    const release = () => {
      this.#isShared = false;
    };
    const bitmap = { ...unchunked(this.#bits), shift: 0 } as const;
    return { arrays: this.#sparse?.arrays ?? bitmap, release };
  }

  get size(): number {
    return this.#sparse ? this.#sparse.size : this.#size;
  }

  /** Size in bytes, without the object itself. */
  get byteLength(): number {
    return this.#sparse ? this.#sparse.byteLength : this.#bits.byteLength;
  }

  /** The list, which must not be changed; undefined for a bitmap. */
  get sparse(): SparseMembers | undefined {
    return this.#sparse;
  }

  /** The bitmap, which must not be changed; empty for a list. */
  get bits(): Uint32Array<ArrayBuffer> {
    return this.#bits;
  }

  has(member: number): boolean {
    return this.#sparse ? this.#sparse.has(member) : ((this.#bits[member >>> 5] ?? 0) & (1 << (member & 31))) !== 0;
  }

  /** Returns whether it is new. In ascending order each call takes constant time. */
  add(member: number): boolean {
    if (this.#isShared) this.#own();
    const sparse = this.#sparse;
    if (!sparse) return this.#addBit(member);
    if (member <= sparse.last && sparse.has(member)) return false;
    if (isDense(sparse.size, Math.max(sparse.last, member))) {
      this.#toBits(Math.max(sparse.last, member));
      return this.#addBit(member);
    }
    sparse.add(member);
    return true;
  }

  /** Returns whether it was a member. */
  delete(member: number): boolean {
    if (this.#isShared) this.#own();
    if (this.#sparse) return this.#sparse.delete(member);
    const word = this.#bits[member >>> 5] ?? 0;
    if ((word & (1 << (member & 31))) === 0) return false;
    this.#bits[member >>> 5] = word & ~(1 << (member & 31));
    this.#size -= 1;
    if (isThin(this.#size, this.#bits.length)) this.#toSparse();
    return true;
  }

  /** In ascending order. The set must not change during the call. */
  each(visit: (member: number) => void): void {
    if (this.#sparse) {
      this.#sparse.each(visit);
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
    return Array.from(this.toArray(count));
  }

  /** The first members in ascending order, as a copy; all by default. */
  toArray(count: number = this.size): Uint32Array<ArrayBuffer> {
    if (this.#sparse) return this.#sparse.toArray(count);
    const members = new Uint32Array(Math.min(count, this.#size));
    for (let word = 0, at = 0; at < members.length; word += 1) {
      for (let rest = this.#bits[word] as number; rest !== 0; rest &= rest - 1) {
        members[at++] = word * 32 + (31 - Math.clz32(rest & -rest));
      }
    }
    return members;
  }

  #own(): void {
    this.#isShared = false;
    if (this.#sparse) this.#sparse.own();
    else this.#bits = this.#bits.slice();
  }

  #addBit(member: number): boolean {
    const word = member >>> 5;
    if (word >= this.#bits.length) {
      // The set is dense, but this member is far away: a bitmap that includes it would be larger than the list.
      if (isThin(this.#size, word + 1)) {
        this.#toSparse();
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
    const size = this.size;
    this.each((member) => {
      bits[member >>> 5] = (bits[member >>> 5] as number) | (1 << (member & 31));
    });
    this.#sparse = undefined;
    this.#bits = bits;
    this.#size = size;
  }

  #toSparse(): void {
    this.#sparse = new SparseMembers(unchunked(this.toArray()));
    this.#bits = EMPTY;
  }
}

/** Bytes of all of them. */
export const sizeOfSets = (sets: readonly (DomainSet | undefined)[]): number =>
  sets.reduce((sum, set) => sum + (set?.byteLength ?? 0), 0);

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
