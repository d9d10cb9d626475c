// Builds many sets at once: counts first, then fills, so that each set is created in its final form and nothing grows
// or moves.
import { DomainSet, isDense } from './domain-set.ts';
import { chunksBelow, lowsOf, type Shift, SparseMembers, shiftFor } from './sparse-members.ts';

/** Calls `visit` for every member of every set, members in ascending order; the same each time it is called. */
type Membership = (visit: (set: number, member: number) => void) => void;

/** The sets 0 to `count - 1`; a set without members stays undefined. `limit` is above every member. */
export function buildSets(count: number, limit: number, membership: Membership): (DomainSet | undefined)[] {
  const sizes = new Uint32Array(count);
  const ends = new Uint32Array(count);
  const shifts = new Uint8Array(count);
  const bits: (Uint32Array<ArrayBuffer> | undefined)[] = new Array(count).fill(undefined);
  const lows: (Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer>)[] = [];
  const starts: (Uint32Array<ArrayBuffer> | undefined)[] = new Array(count).fill(undefined);
  /** The chunk of the last member. */
  const chunks = new Uint32Array(count);
  // One more than the last member, so that 0 means none: a member repeated in a row counts once.
  const last = new Uint32Array(count);
  let isFilling = false;
  // One function for both rounds: two would prevent the engine from inlining them where they are called millions of
  // times.
  const visit = (set: number, member: number) => {
    if (last[set] === member + 1) return;
    last[set] = member + 1;
    if (!isFilling) {
      sizes[set] = (sizes[set] as number) + 1;
      return;
    }
    const words = bits[set];
    if (words !== undefined) {
      words[member >>> 5] = (words[member >>> 5] as number) | (1 << (member & 31));
      return;
    }
    const at = ends[set] as number;
    // Typed arrays store the low bits of a number.
    (lows[set] as Uint32Array)[at] = member;
    ends[set] = at + 1;
    const ofSet = starts[set];
    if (ofSet === undefined) return;
    const chunk = member >>> (shifts[set] as number);
    for (let known = chunks[set] as number; known < chunk; known += 1) ofSet[known + 1] = at;
    chunks[set] = chunk;
  };

  membership(visit);
  for (let set = 0; set < count; set += 1) {
    const size = sizes[set] as number;
    if (isDense(size, limit)) {
      bits[set] = new Uint32Array((limit >>> 5) + 1);
      continue;
    }
    const shift = shiftFor(size, limit);
    shifts[set] = shift;
    lows[set] = lowsOf(shift, size);
    if (shift !== 32 && size > 0) starts[set] = new Uint32Array(chunksBelow(shift, limit) + 1);
  }
  isFilling = true;
  last.fill(0);
  membership(visit);

  return Array.from({ length: count }, (_, set) => {
    const size = sizes[set] as number;
    const words = bits[set];
    if (words) return DomainSet.ofBits(words, size);
    if (size === 0) return undefined;
    const ofSet = starts[set] ?? new Uint32Array(0);
    ofSet.fill(size, (chunks[set] as number) + 1);
    return DomainSet.ofSorted(
      SparseMembers.ofChunks(shifts[set] as Shift, lows[set] as Uint32Array<ArrayBuffer>, ofSet),
    );
  });
}
