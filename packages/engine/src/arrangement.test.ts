import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { arrange } from './arrangement.ts';

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
