// Builds many sets at once: counts first, then fills, so that each set is created in its final form and nothing grows
// or moves.
import { DomainSet, isDense } from './domain-set.ts';
import { MemberAppender } from './member-arrays.ts';
import { SparseMembers } from './sparse-members.ts';

/** Calls `visit` for every member of every set, members in ascending order; the same each time it is called. */
type Membership = (visit: (set: number, member: number) => void) => void;

/** The sets 0 to `count - 1`; a set without members stays undefined. `limit` is above every member. */
export function buildSets(count: number, limit: number, membership: Membership): (DomainSet | undefined)[] {
  const sizes = new Uint32Array(count);
  const bits: (Uint32Array<ArrayBuffer> | undefined)[] = new Array(count).fill(undefined);
  const lists: (MemberAppender | undefined)[] = new Array(count).fill(undefined);
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
    if (words === undefined) lists[set]?.append(member);
    else words[member >>> 5] = (words[member >>> 5] as number) | (1 << (member & 31));
  };

  membership(visit);
  for (let set = 0; set < count; set += 1) {
    const size = sizes[set] as number;
    if (isDense(size, limit)) bits[set] = new Uint32Array((limit >>> 5) + 1);
    else if (size > 0) lists[set] = new MemberAppender(size, limit);
  }
  isFilling = true;
  last.fill(0);
  membership(visit);

  return Array.from({ length: count }, (_, set) => {
    const words = bits[set];
    if (words) return new DomainSet({ bits: words, size: sizes[set] as number });
    const arrays = lists[set]?.finish();
    return arrays && DomainSet.ofSorted(new SparseMembers(arrays));
  });
}
