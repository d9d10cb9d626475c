// Intersections, unions and differences of sets. The results are new sets, except the union of a single one.
import { DomainSet, isDense } from './domain-set.ts';
import { addBits, clearBits, countBits, countBoth, eachCommon, keepBits, removeBits } from './set-kernels.ts';
import type { SparseMembers } from './sparse-members.ts';

/** Lists that are longer together than this share of the numbers up to the largest are joined as a bitmap. */
const BITMAP_SHARE = 1 / 512;

/** The size of the intersection, without creating it. */
export function intersectionSize(a: DomainSet, b: DomainSet): number {
  const [small, large] = bySize(a, b);
  const [few, many] = [small.sparse, large.sparse];
  if (!few) return many ? countIn(many, small.bits) : countBoth(small.bits, large.bits);
  if (!many) return countIn(few, large.bits);
  let count = 0;
  eachInBoth(few, many, () => {
    count += 1;
  });
  return count;
}

export function intersection(a: DomainSet, b: DomainSet): DomainSet {
  const [small, large] = bySize(a, b);
  const [few, many] = [small.sparse, large.sparse];
  // The smaller set may be the bitmap if the numbers of the other are far apart.
  const list = few ?? many;
  if (!list) return filter([small, large], []);
  const found = new Uint32Array(Math.min(list.size, small.size));
  let count = 0;
  if (few && many) {
    eachInBoth(few, many, (member) => {
      found[count++] = member;
    });
  } else {
    const { bits } = few ? large : small;
    const members = list.toArray();
    for (let i = 0; i < members.length; i += 1) {
      const member = members[i] as number;
      if (((bits[member >>> 5] ?? 0) & (1 << (member & 31))) !== 0) found[count++] = member;
    }
  }
  return DomainSet.ofSorted(found.subarray(0, count));
}

/** The union of any number of sets in one pass over their members; a single set is not copied, and must not be changed. */
export function union(sets: readonly DomainSet[]): DomainSet {
  const filled = sets.filter(({ size }) => size > 0);
  const [first, ...more] = filled;
  if (!first || more.length === 0) return first ?? new DomainSet();
  const limit = Math.max(...filled.map(limitOf));
  const size = filled.reduce((sum, set) => sum + set.size, 0);
  if (!isDense(size, limit) && size < limit * BITMAP_SHARE) return unionOfSparse(filled, size);
  const bits = new Uint32Array((limit + 31) >>> 5);
  for (const set of filled) {
    if (set.sparse) setBits(bits, set.sparse);
    else addBits(bits, set.bits);
  }
  return ofBits(bits);
}

/** Members of the first set that are not in the second. */
export function difference(set: DomainSet, other: DomainSet): DomainSet {
  const own = set.sparse;
  return own ? DomainSet.ofSorted(own.toArray().filter((member) => !other.has(member))) : filter([set], [other]);
}

/** Members of all of the included sets, of which there is one at least, and of none of the excluded. */
export function filter(included: readonly DomainSet[], excluded: readonly DomainSet[]): DomainSet {
  const [first = new DomainSet(), ...more] = included.toSorted((a, b) => a.size - b.size);
  const few = first.sparse;
  if (few) return excluded.reduce(difference, more.reduce(intersection, DomainSet.ofSorted(few.toArray())));
  // One bitmap for all of them, whose members are counted once.
  const bits = first.bits.slice();
  for (const { sparse, bits: other } of more) if (!sparse) keepBits(bits, other);
  for (const { sparse, bits: other } of excluded) {
    if (sparse) clearBits(bits, sparse.toArray());
    else removeBits(bits, other);
  }
  return more.filter(({ sparse }) => sparse).reduce(intersection, ofBits(bits));
}

const bySize = (a: DomainSet, b: DomainSet): readonly [small: DomainSet, large: DomainSet] =>
  b.size < a.size ? [b, a] : [a, b];

const ofBits = (bits: Uint32Array<ArrayBuffer>): DomainSet => new DomainSet({ bits, size: countBits(bits) });

/** Above every member of a set with members. */
const limitOf = ({ sparse, bits }: DomainSet): number => (sparse ? sparse.last + 1 : bits.length * 32);

/** In ascending order. */
function eachInBoth(few: SparseMembers, many: SparseMembers, visit: (member: number) => void): void {
  const [own, lows] = [few.lows, many.lows];
  const isAlike = few.shift === many.shift;
  few.eachChunk((base, from, to) => {
    if (isAlike) {
      const [start, end] = many.chunkAt(base);
      eachCommon([own, from, to], [lows, start, end], (low) => visit(base + low));
      return;
    }
    for (let i = from; i < to; i += 1) {
      const member = base + (own[i] as number);
      if (many.has(member)) visit(member);
    }
  });
}

/** The number of members in a bitmap. */
function countIn(sparse: SparseMembers, bits: Uint32Array): number {
  const { lows } = sparse;
  let count = 0;
  sparse.eachChunk((base, from, to) => {
    for (let i = from; i < to; i += 1) {
      const member = base + (lows[i] as number);
      count += ((bits[member >>> 5] ?? 0) >>> (member & 31)) & 1;
    }
  });
  return count;
}

function setBits(bits: Uint32Array, sparse: SparseMembers): void {
  const { lows } = sparse;
  sparse.eachChunk((base, from, to) => {
    for (let i = from; i < to; i += 1) {
      const member = base + (lows[i] as number);
      bits[member >>> 5] = (bits[member >>> 5] as number) | (1 << (member & 31));
    }
  });
}

function unionOfSparse(sets: readonly DomainSet[], size: number): DomainSet {
  const members = new Uint32Array(size);
  let end = 0;
  for (const set of sets) {
    set.each((member) => {
      members[end++] = member;
    });
  }
  members.sort();
  return DomainSet.ofSorted(members.filter((member, at) => at === 0 || member !== members[at - 1]));
}
