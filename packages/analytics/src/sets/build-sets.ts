// Builds many sets at once: counts first, then fills, so that each set is created in its final form and nothing grows
// or moves.
import { DomainSet, isDense } from './domain-set.ts';

/** Calls `visit` for every member of every set, members in ascending order; the same each time it is called. */
type Membership = (visit: (set: number, member: number) => void) => void;

/** The sets 0 to `count - 1`; a set without members stays undefined. `limit` is above every member. */
export function buildSets(count: number, limit: number, membership: Membership): (DomainSet | undefined)[] {
  const sizes = new Uint32Array(count);
  const ends = new Uint32Array(count);
  const bits: (Uint32Array<ArrayBuffer> | undefined)[] = new Array(count).fill(undefined);
  // One more than the last member, so that 0 means none: a member repeated in a row counts once.
  const last = new Uint32Array(count);
  let run: Uint32Array | undefined;
  // One function for both rounds: two would prevent the engine from inlining them where they are called millions of
  // times.
  const visit = (set: number, member: number) => {
    if (last[set] === member + 1) return;
    last[set] = member + 1;
    if (run === undefined) {
      sizes[set] = (sizes[set] as number) + 1;
      return;
    }
    const words = bits[set];
    if (words !== undefined) {
      words[member >>> 5] = (words[member >>> 5] as number) | (1 << (member & 31));
      return;
    }
    const at = ends[set] as number;
    run[at] = member;
    ends[set] = at + 1;
  };

  membership(visit);
  // Sparse sets share one block of memory, dense ones have their own bitmaps.
  let total = 0;
  for (let set = 0; set < count; set += 1) {
    ends[set] = total;
    if (isDense(sizes[set] as number, limit)) bits[set] = new Uint32Array((limit >>> 5) + 1);
    else total += sizes[set] as number;
  }
  const sparse = new Uint32Array(total);
  run = sparse;
  last.fill(0);
  membership(visit);

  return Array.from({ length: count }, (_, set) => {
    const size = sizes[set] as number;
    const words = bits[set];
    if (words) return DomainSet.ofBits(words, size);
    return size === 0 ? undefined : DomainSet.ofSorted(sparse.subarray((ends[set] as number) - size, ends[set]));
  });
}
