// A set of domain numbers: a list of members while it is sparse, a bitmap once that is smaller. Most queries reduce to
// counting an intersection (set-operations.ts); docs/decisions explains why this is not a library of bitmaps.
import { countBits } from './set-kernels.ts';
import { type MemberArrays, SparseMembers } from './sparse-members.ts';

/**
 * A bitmap uses one bit per number below the largest; a list hardly more than 8 bits per member where there are so many.
 */
const BITS_PER_MEMBER = 9;

const EMPTY = new Uint32Array(0);
const NO_OFFSETS = new Uint16Array(0);

/** The arrays of a set; a shift of 0 is that of a bitmap. */
export type SetArrays = Omit<MemberArrays, 'shift'> & { readonly shift: MemberArrays['shift'] | 0 };

export class DomainSet {
  /** Undefined for a bitmap. */
  #sparse: SparseMembers | undefined = new SparseMembers();
  #bits: Uint32Array<ArrayBuffer> = EMPTY;
  /** Of a bitmap. */
  #size = 0;
  #isShared = false;

  static of(members: Iterable<number>): DomainSet {
    const set = new DomainSet();
    for (const member of members) set.add(member);
    return set;
  }

  /** From numbers in ascending order; takes ownership of them. */
  static ofSorted(members: Uint32Array<ArrayBuffer> | SparseMembers): DomainSet {
    const set = new DomainSet();
    set.#sparse = members instanceof SparseMembers ? members : SparseMembers.ofSorted(members);
    return set;
  }

  /** From a bitmap with `size` bits set; takes ownership of the array. */
  static ofBits(bits: Uint32Array<ArrayBuffer>, size: number): DomainSet {
    const set = new DomainSet();
    set.#sparse = undefined;
    set.#bits = bits;
    set.#size = size;
    if (isThin(size, bits.length)) set.#toSparse();
    return set;
  }

  /** Takes ownership of the arrays. */
  static ofArrays({ shift, ...arrays }: SetArrays): DomainSet {
    if (shift !== 0) return DomainSet.ofSorted(SparseMembers.ofArrays({ shift, ...arrays }));
    const bits = arrays.lows as Uint32Array<ArrayBuffer>;
    return DomainSet.ofBits(bits, countBits(bits));
  }

  /** Its arrays as they are now, which stay so until `release`: the next change is made in a copy. */
  share(): SetArrays {
    this.#isShared = true;
    return this.#sparse?.arrays() ?? { shift: 0, lows: this.#bits, bases: EMPTY, offsets: NO_OFFSETS };
  }

  release(): void {
    this.#isShared = false;
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
    if (this.#sparse) return Array.from(this.#sparse.toArray(count));
    const members: number[] = [];
    for (let word = 0; word < this.#bits.length && members.length < count; word += 1) {
      for (let rest = this.#bits[word] as number; rest !== 0 && members.length < count; rest &= rest - 1) {
        members.push(word * 32 + (31 - Math.clz32(rest & -rest)));
      }
    }
    return members;
  }

  /** Members in ascending order, as a copy. */
  toArray(): Uint32Array<ArrayBuffer> {
    if (this.#sparse) return this.#sparse.toArray();
    const members = new Uint32Array(this.#size);
    let at = 0;
    this.each((member) => {
      members[at++] = member;
    });
    return members;
  }

  #own(): void {
    this.#isShared = false;
    if (this.#sparse) this.#sparse = this.#sparse.copy();
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
    this.#sparse = SparseMembers.ofSorted(this.toArray());
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
