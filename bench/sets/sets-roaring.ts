// Our sets beside roaring bitmaps in WebAssembly, over a million numbers.
import { DomainSet, intersection, intersectionSize, union } from '@strata/analytics';
import { RoaringBitmap32 } from 'roaring-wasm';
import { type Figure, rateOf } from '../measure.ts';

const UNIVERSE = 1_000_000;
const RUN_MS = 300;

interface Pair {
  readonly ours: DomainSet;
  readonly roaring: RoaringBitmap32;
}

/** A case is what both sides do, on two sets; each gives a number that must be the same. */
const WORK = [
  {
    what: 'count of',
    ours: (a: Pair, b: Pair) => intersectionSize(a.ours, b.ours),
    roaring: (a: Pair, b: Pair) => a.roaring.andCardinality(b.roaring),
  },
  {
    what: 'intersection of',
    ours: (a: Pair, b: Pair) => intersection(a.ours, b.ours).size,
    roaring: (a: Pair, b: Pair) => sizeOf(RoaringBitmap32.and(a.roaring, b.roaring)),
  },
  {
    what: 'union of',
    ours: (a: Pair, b: Pair) => union([a.ours, b.ours]).size,
    roaring: (a: Pair, b: Pair) => sizeOf(RoaringBitmap32.or(a.roaring, b.roaring)),
  },
] as const;

export function compareSets(): Figure[] {
  const dense = make(0.3, 1);
  const other = make(0.2, 2);
  const sparse = make(0.001, 3);
  const few = make(0.002, 4);
  const pairs = [
    ['dense and dense (30 %, 20 %)', dense, other],
    ['dense and sparse (30 %, 0.1 %)', dense, sparse],
    ['sparse and sparse (0.1 %, 0.2 %)', sparse, few],
  ] as const;
  const figures: Figure[] = [];
  for (const [name, a, b] of pairs) {
    for (const { what, ours, roaring } of WORK) {
      figures.push(race(`${what} ${name}`, { ours: () => ours(a, b), roaring: () => roaring(a, b) }));
    }
  }
  for (const [name, set] of [
    ['dense (30 %)', dense],
    ['sparse (0.1 %)', sparse],
  ] as const) {
    figures.push(
      race(`every member of ${name}`, { ours: () => sumOfOurs(set.ours), roaring: () => sumOfRoaring(set.roaring) }),
    );
    const kib = (bytes: number) => `${(bytes / 1_024).toFixed(1)} KiB`;
    figures.push({
      what: `memory of ${name}, of 1,000,000`,
      value: kib(set.ours.byteLength),
      against: `roaring-wasm ${kib(set.roaring.getSerializationSizeInBytes('portable'))}, as written`,
    });
  }
  return figures;
}

function race(
  what: string,
  { ours, roaring }: { readonly ours: () => number; readonly roaring: () => number },
): Figure {
  if (ours() !== roaring()) throw new Error(`${what}: ${ours()}, roaring-wasm ${roaring()}`);
  const rate = (work: () => number) =>
    rateOf(() => {
      for (let i = 0; i < 20; i += 1) work();
      return 20;
    }, RUN_MS);
  const mine = rate(ours);
  const theirs = rate(roaring);
  const us = (perSecond: number) => `${(1e6 / perSecond).toFixed(1)} µs`;
  return {
    what: `${what}, of 1,000,000`,
    value: us(mine),
    against: `roaring-wasm ${us(theirs)}: ${(mine / theirs).toFixed(1)} ×`,
  };
}

function sizeOf(set: RoaringBitmap32): number {
  const { size } = set;
  // Its memory is not collected in time.
  set.dispose();
  return size;
}

function sumOfOurs(set: DomainSet): number {
  let sum = 0;
  set.each((member) => {
    sum += member;
  });
  return sum;
}

/** Copied out at once: faster than its iterator. */
function sumOfRoaring(set: RoaringBitmap32): number {
  let sum = 0;
  for (const member of set.toUint32Array()) sum += member;
  return sum;
}

function make(share: number, seed: number): Pair {
  let state = seed;
  const numbers: number[] = [];
  for (let i = 0; i < UNIVERSE; i += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    if (state / 2 ** 32 < share) numbers.push(i);
  }
  return { ours: DomainSet.of(numbers), roaring: new RoaringBitmap32(numbers) };
}
