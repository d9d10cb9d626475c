import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { arrange } from './arrangement.ts';
import { chooseSlot, commonPrefix } from './choose-slot.ts';

describe('the arrangement of an engine', () => {
  for (const [why, cores, memoryGb, slots, sizeGb, hasGpu, given, processes, threads] of [
    ['two cores', 2, 16, 4, 1, false, {}, 2, 1],
    ['one slot', 8, 16, 1, 1, false, {}, 1, 7],
    ['many cores', 16, 64, 4, 1, false, {}, 4, 3],
    ['large weights', 8, 32, 4, 5, false, {}, 1, 7],
    ['a GPU', 8, 32, 4, 1, true, {}, 1, 7],
    ['one core', 1, 4, 4, 1, false, {}, 1, 1],
    ['given numbers', 8, 32, 4, 1, false, { processes: 2, threads: 5 }, 2, 5],
    ['more processes than slots', 8, 32, 2, 1, false, { processes: 6 }, 2, 3],
  ] as const)
    it(`fits ${why}`, () => {
      const machine = { cores, memoryBytes: memoryGb * 1e9 };
      assert.deepEqual(arrange(machine, { slots, sizeBytes: sizeGb * 1e9, hasGpu }, given), { processes, threads });
    });
});

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

const slot = (id: string, tokens: readonly number[], usedAt: number, cacheKey?: string) => {
  return { id, tokens, usedAt, ...(cacheKey === undefined ? {} : { cacheKey }) };
};

describe('the slot of a prompt', () => {
  const prompt = range(0, 100);
  const [a, b, c] = [slot('a', range(0, 40), 1, 'k'), slot('b', range(0, 40), 0, 'other'), slot('c', range(0, 60), 2)];
  const most = slot('y', [...range(0, 60), 7], 9);
  const strangers = [slot('x', range(0, 10), 5), slot('y', range(50, 90), 2), slot('z', range(0, 5), 9)];
  const short = slot('d', range(0, 2), 0, 'l');
  for (const [name, slots, cacheKey, expected] of [
    ['is the one that has read the most', [slot('x', range(0, 20), 1), most], undefined, 'y'],
    ['is the one unused for the longest time where little is common', strangers, undefined, 'y'],
    ['is the one unused for longer of two that have read as much', [slot('x', range(0, 40), 8), a], undefined, 'a'],
    ['is the one of the same cache key where that decides between equals', [a, b], 'k', 'a'],
    ['is the one unused for longer where no cache key is given', [a, b], undefined, 'b'],
    ['is the one with the longer beginning, whatever its cache key', [a, c], 'k', 'c'],
    ['is the one of the same cache key where little is common', [short, slot('b', [], 0, 'other')], 'l', 'd'],
    ['is none where none is free', [], undefined, undefined],
  ] as const)
    it(name, () => {
      assert.equal(chooseSlot(slots, prompt, cacheKey)?.id, expected);
      assert.equal(chooseSlot([...slots].reverse(), prompt, cacheKey)?.id, expected);
    });

  it('has a prefix in common that is counted from the beginning alone', () => {
    assert.equal(commonPrefix([1, 2, 3], [1, 2, 4, 3]), 2);
    assert.equal(commonPrefix([], [1]), 0);
  });
});
