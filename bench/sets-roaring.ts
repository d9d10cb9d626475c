// Our sets beside roaring bitmaps in WebAssembly, over a million numbers.
import { DomainSet } from '@strata/analytics';
import { RoaringBitmap32 } from 'roaring-wasm';
import type { Figure } from './main.ts';
import { rateOf } from './measure.ts';

const UNIVERSE = 1_000_000;

export function compareSets(): Figure[] {
  const members = (share: number, seed: number) => {
    let state = seed;
    const numbers: number[] = [];
    for (let i = 0; i < UNIVERSE; i += 1) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      if (state / 2 ** 32 < share) numbers.push(i);
    }
    return numbers;
  };
  const make = (share: number, seed: number) => {
    const numbers = members(share, seed);
    return { ours: DomainSet.of(numbers), roaring: new RoaringBitmap32(numbers) };
  };
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
  for (const [what, a, b] of pairs) {
    if (a.ours.andSize(b.ours) !== a.roaring.andCardinality(b.roaring)) throw new Error(`${what}: the counts differ`);
    const times = (work: () => unknown) =>
      rateOf(() => {
        for (let i = 0; i < 20; i += 1) work();
        return 20;
      }, 300);
    const ours = times(() => a.ours.andSize(b.ours));
    const theirs = times(() => a.roaring.andCardinality(b.roaring));
    figures.push(figure(`count of ${what}`, ours, theirs));
    const made = times(() => a.ours.and(b.ours).size);
    const theirsMade = times(() => {
      const set = RoaringBitmap32.and(a.roaring, b.roaring);
      set.dispose();
    });
    figures.push(figure(`intersection of ${what}`, made, theirsMade));
  }
  return figures;
}

function figure(what: string, ours: number, theirs: number): Figure {
  const us = (rate: number) => `${(1e6 / rate).toFixed(1)} µs`;
  return {
    what: `${what}, of 1,000,000`,
    value: us(ours),
    against: `roaring-wasm ${us(theirs)}: ${(ours / theirs).toFixed(1)} ×`,
  };
}
