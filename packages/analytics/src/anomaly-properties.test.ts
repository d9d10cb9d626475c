import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../tests/support/property.ts';
import { judge, type Sample, type SeriesKind } from './anomaly.ts';

const TODAY = 20_000;
const kind = fc.constantFrom<SeriesKind>('count', 'level');
const tests = fc.constantFrom(0, 1, 1500, 1e7);
const anyNumber = fc.double({ noNaN: true, noDefaultInfinity: true });
const stepOf = (low: number, high: number) => fc.integer({ min: low, max: high });

/** A month of counts or levels of any size, and a day to judge that is often far off. */
const noises = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 28, maxLength: 28 });
const ordinary = fc
  .tuple(stepOf(0, 2000), stepOf(0, 300), noises)
  .map(([base, spread, noise]) => noise.map((each, i) => sample(i, Math.round(base + spread * each))));
const value = stepOf(0, 10_000);

function sample(i: number, each: number, exposure = 1000): Sample {
  return { day: TODAY - 28 + i, value: each, exposure };
}
const now = (each: number, exposure = 1000) => sample(28, each, exposure);

describe('any series', () => {
  it('gives a finite judgement for any finite input, and keeps to its own rules', () => {
    const wild = fc.record({
      day: fc.oneof(stepOf(TODAY - 30, TODAY + 2), anyNumber),
      value: fc.oneof(anyNumber, stepOf(-10, 1000), fc.constantFrom(0, 1e308, -1e308, 2 ** 53)),
      exposure: fc.oneof(anyNumber, stepOf(0, 1e6), fc.constantFrom(1, 5e-324, 2 ** 53 - 1)),
      isAnomaly: fc.boolean(),
    });
    const window = fc.array(wild, { minLength: 10, maxLength: 60 });
    holds(2000, [window, wild, kind, tests], (days, today, of, many) => {
      const found = judge(days, { ...today, day: TODAY }, { kind: of, tests: many });
      if (!found) return;
      const { mean, stddev, sigma, chance, samples } = found;
      assert.ok([mean, stddev, sigma, chance].every(Number.isFinite), JSON.stringify(found));
      assert.ok(stddev >= 1 && Math.abs(sigma) >= 3 && Math.abs(found.value - mean) >= 5);
      assert.ok(chance >= 0 && chance <= 1 && chance * many <= 0.01 && samples >= 14);
      assert.equal(found.direction === 'up', sigma > 0);
    });
  });

  it('does not depend on the order of its samples, nor on the unit of exposure', () =>
    holds(100, [ordinary, value, kind], (window, today, of) => {
      const options = { kind: of, tests: 10 };
      const found = judge(window, now(today), options);
      assert.deepEqual(judge(window.toReversed(), now(today), options), found);
      const doubled = window.map((each) => ({ ...each, exposure: each.exposure * 2 }));
      const again = judge(doubled, now(today, 2000), options);
      assert.equal(again?.sigma, found?.sigma);
    }));

  it('that is an anomaly among many is one among few', () =>
    holds(100, [ordinary, value, kind, tests, tests], (window, today, of, a, b) => {
      const strict = judge(window, now(today), { kind: of, tests: Math.max(a, b) });
      if (strict) assert.deepEqual(judge(window, now(today), { kind: of, tests: Math.min(a, b) }), strict);
    }));

  it('that is an anomaly is one still when the day is further off', () =>
    holds(100, [ordinary, value, stepOf(1, 5000), kind], (window, today, further, of) => {
      const options = { kind: of, tests: 1500 };
      const found = judge(window, now(today), options);
      if (found?.direction !== 'up') return;
      const next = judge(window, now(today + further), options);
      assert.ok(next && next.sigma > found.sigma && next.chance <= found.chance);
    }));

  it('of a level means the same upside down', () =>
    holds(100, [ordinary, value], (window, today) => {
      const options = { kind: 'level', tests: 1500 } as const;
      const flipped = window.map((each) => ({ ...each, value: -each.value }));
      const found = judge(window, now(today), options);
      const mirrored = judge(flipped, now(-today), options);
      assert.equal(found === undefined, mirrored === undefined);
      assert.equal(found && -found.sigma, mirrored?.sigma);
      assert.equal(found?.chance, mirrored?.chance);
    }));
});
