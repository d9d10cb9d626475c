// Exact while it fits the budget, fast beyond.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { replayOf } from './replay.ts';

const table: readonly (readonly [number, number | undefined, number, 'exact' | 'fast'])[] = [
  [0, 100, 1_000, 'exact'],
  [0, undefined, 0, 'exact'],
  [80, 100, 1_000, 'exact'],
  [81, 100, 1_000, 'fast'],
  [100_000, Number.POSITIVE_INFINITY, 1_000, 'exact'],
  [1, 100, 0, 'fast'],
  [16, undefined, 1_000, 'exact'],
  [17, undefined, 1_000, 'fast'],
  [21, 0, 1_000, 'fast'],
  [16, Number.NaN, 1_000, 'exact'],
  [21, -5, 1_000, 'fast'],
];

for (const [givenTokens, decodeTokensPerSecond, budgetMs, replay] of table)
  it(`${givenTokens} tokens at ${decodeTokensPerSecond} a second within ${budgetMs} ms are read again ${replay}`, () => {
    assert.equal(replayOf({ givenTokens, decodeTokensPerSecond, budgetMs }), replay);
  });
