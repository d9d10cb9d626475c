import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { arrange } from './arrangement.ts';

const GB = 1e9;

describe('the arrangement of an engine', () => {
  const table: [why: string, ...Parameters<typeof arrange>, expected: ReturnType<typeof arrange>][] = [
    [
      'two cores',
      { cores: 2, memoryBytes: 16 * GB },
      { slots: 4, sizeBytes: 1 * GB, hasGpu: false },
      {},
      { processes: 2, threads: 1 },
    ],
    [
      'one slot',
      { cores: 8, memoryBytes: 16 * GB },
      { slots: 1, sizeBytes: 1 * GB, hasGpu: false },
      {},
      { processes: 1, threads: 7 },
    ],
    [
      'many cores',
      { cores: 16, memoryBytes: 64 * GB },
      { slots: 4, sizeBytes: 1 * GB, hasGpu: false },
      {},
      { processes: 4, threads: 3 },
    ],
    [
      'large weights',
      { cores: 8, memoryBytes: 32 * GB },
      { slots: 4, sizeBytes: 5 * GB, hasGpu: false },
      {},
      { processes: 1, threads: 7 },
    ],
    [
      'a GPU',
      { cores: 8, memoryBytes: 32 * GB },
      { slots: 4, sizeBytes: 1 * GB, hasGpu: true },
      {},
      { processes: 1, threads: 7 },
    ],
    [
      'one core',
      { cores: 1, memoryBytes: 4 * GB },
      { slots: 4, sizeBytes: 1 * GB, hasGpu: false },
      {},
      { processes: 1, threads: 1 },
    ],
    [
      'what is given',
      { cores: 8, memoryBytes: 32 * GB },
      { slots: 4, sizeBytes: 1 * GB, hasGpu: false },
      { processes: 2, threads: 5 },
      { processes: 2, threads: 5 },
    ],
    [
      'more processes than slots',
      { cores: 8, memoryBytes: 32 * GB },
      { slots: 2, sizeBytes: 1 * GB, hasGpu: false },
      { processes: 6 },
      { processes: 2, threads: 3 },
    ],
  ];
  for (const [why, machine, model, given, expected] of table)
    it(`fits ${why}`, () => assert.deepEqual(arrange(machine, model, given), expected));
});
