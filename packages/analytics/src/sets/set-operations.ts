// Intersections, unions and differences of sets. The results are new sets, except the union of a single one.
import { DomainSet, isDense } from './domain-set.ts';
import {
  addBits,
  clearBits,
  countBits,
  countBoth,
  countIn,
  eachCommon,
  keepBits,
  removeBits,
  setBits,
} from './set-kernels.ts';

/** The size of the intersection, without creating it. */
export function intersectionSize(a: DomainSet, b: DomainSet): number {
  const [small, large] = bySize(a, b);
  const [few, many] = [small.sorted, large.sorted];
  if (!few) return many ? countIn(many, small.bits) : countBoth(small.bits, large.bits);
  if (!many) return countIn(few, large.bits);
  let count = 0;
  eachCommon(few, many, () => {
    count += 1;
  });
  return count;
}

export function intersection(a: DomainSet, b: DomainSet): DomainSet {
  const [small, large] = bySize(a, b);
  const [few, many] = [small.sorted, large.sorted];
  // The smaller set may be the bitmap if the numbers of the other are far apart.
  const list = few ?? many;
  if (!list) return filter([small, large], []);
  const found = new Uint32Array(list.length);
  let count = 0;
  if (few && many) {
    eachCommon(few, many, (member) => {
      found[count++] = member;
    });
  } else {
    const { bits } = few ? large : small;
    for (let i = 0; i < list.length; i += 1) {
      const member = list[i] as number;
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
  if (!isDense(size, limit)) return unionOfSparse(filled, size);
  const bits = new Uint32Array((limit + 31) >>> 5);
  for (const set of filled) {
    if (set.sorted) setBits(bits, set.sorted);
    else addBits(bits, set.bits);
  }
  return ofBits(bits);
}

/** Members of the first set that are not in the second. */
export function difference(set: DomainSet, other: DomainSet): DomainSet {
  const own = set.sorted;
  return own ? DomainSet.ofSorted(own.filter((member) => !other.has(member))) : filter([set], [other]);
}

/** Members of all of the included sets, of which there is one at least, and of none of the excluded. */
export function filter(included: readonly DomainSet[], excluded: readonly DomainSet[]): DomainSet {
  const [first = new DomainSet(), ...more] = included.toSorted((a, b) => a.size - b.size);
  const { sorted: few } = first;
  if (few) return excluded.reduce(difference, more.reduce(intersection, DomainSet.ofSorted(few.slice())));
  // One bitmap for all of them, whose members are counted once.
  const bits = first.bits.slice();
  for (const { sorted, bits: other } of more) if (!sorted) keepBits(bits, other);
  for (const { sorted, bits: other } of excluded) {
    if (sorted) clearBits(bits, sorted);
    else removeBits(bits, other);
  }
  return more.filter(({ sorted }) => sorted).reduce(intersection, ofBits(bits));
}

const bySize = (a: DomainSet, b: DomainSet): readonly [small: DomainSet, large: DomainSet] =>
  b.size < a.size ? [b, a] : [a, b];

const ofBits = (bits: Uint32Array<ArrayBuffer>): DomainSet => DomainSet.ofBits(bits, countBits(bits));

/** Above every member of a set with members. */
const limitOf = ({ sorted, bits }: DomainSet): number => (sorted ? (sorted.at(-1) ?? 0) + 1 : bits.length * 32);

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
