// How the members of a sparse set are stored: in chunks of 2^8 or 2^16 numbers, of which a member stores the low bits only:
// one or two bytes instead of four. Very few members are stored as they are.

export type Lows = Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer>;
/** Low bits of a member; 32: there is a single chunk. */
export type Shift = 8 | 16 | 32;

export interface MemberArrays {
  readonly shift: Shift;
  readonly lows: Lows;
  /** By group of 2^16 numbers: members before it; one more entry for the end. Empty with a shift of 32. */
  readonly bases: Uint32Array<ArrayBuffer>;
  /** By chunk of 2^8 numbers: members of its group before it; one more entry, 0. Empty with another shift. */
  readonly offsets: Uint16Array<ArrayBuffer>;
}

/** Bits of a number in its group. */
export const GROUP = 16;
export const CHUNKS_OF_GROUP = 2 ** (GROUP - 8);

export const groupsBelow = (limit: number): number => Math.ceil(limit / 2 ** GROUP);
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

export const lowsOf = (shift: Shift, length: number): Lows =>
  shift === 8 ? new Uint8Array(length) : shift === 16 ? new Uint16Array(length) : new Uint32Array(length);

/** Numbers in ascending order as they are; they are not copied. */
export const unchunked = (members: Uint32Array<ArrayBuffer>): MemberArrays => ({
  shift: 32,
  lows: members,
  bases: new Uint32Array(0),
  offsets: new Uint16Array(0),
});

/** Fills the arrays of a set in ascending order. */
export class MemberAppender {
  readonly #arrays: MemberArrays;
  readonly #groups: number;
  #size = 0;
  #last = -1;

  /** For up to `capacity` members below `limit`. */
  constructor(capacity: number, limit: number) {
    const shift = shiftFor(capacity, limit);
    this.#groups = shift === 32 ? 0 : groupsBelow(limit);
    this.#arrays = {
      shift,
      lows: lowsOf(shift, capacity),
      bases: new Uint32Array(shift === 32 ? 0 : this.#groups + 1),
      offsets: new Uint16Array(offsetsOf(shift, this.#groups)),
    };
  }

  append(member: number): void {
    const { shift, lows } = this.#arrays;
    // Typed arrays store the low bits of a number.
    lows[this.#size] = member;
    if (shift !== 32) this.#startThrough(member >>> shift);
    this.#size += 1;
    this.#last = member;
  }

  /** The arrays, with the spare capacity of `lows`. */
  finish(): MemberArrays {
    const { shift } = this.#arrays;
    if (shift !== 32) this.#startThrough(this.#groups * 2 ** (GROUP - shift));
    return this.#arrays;
  }

  /** The chunks after that of the last member, up to this one, begin at the end. */
  #startThrough(chunk: number): void {
    const { shift, bases, offsets } = this.#arrays;
    const first = this.#last < 0 ? 0 : (this.#last >>> shift) + 1;
    for (let next = first; next <= chunk; next += 1) {
      const group = next >>> (GROUP - shift);
      if (next % 2 ** (GROUP - shift) === 0) bases[group] = this.#size;
      if (shift === 8) offsets[next] = this.#size - (bases[group] as number);
    }
  }
}
