import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc, holds } from '../../../../tests/support/property.ts';
import { judge, type SeriesKind } from './anomaly.ts';
import type { Sample } from './anomaly-step.ts';

const TODAY = 20_000;
/** The days before today, the last value yesterday's. */
const before = (values: readonly number[], exposure = 1000): Sample[] =>
  values.map((value, i) => ({ day: TODAY - values.length + i, value, exposure }));
const today = (value: number, exposure = 1000): Sample => ({ day: TODAY, value, exposure });
const times = (count: number, value: number) => Array.from({ length: count }, () => value);
const alternating = (low: number, high: number) => Array.from({ length: 28 }, (_, i) => (i % 2 ? high : low));
const count = (tests = 1) => ({ kind: 'count', tests }) as const;
const level = (tests = 1) => ({ kind: 'level', tests }) as const;

describe('an anomaly', () => {
  it('carries what it was judged by', () => {
    const { chance, ...rest } = judge(before(times(28, 4)), today(30), count(1500)) ?? assert.fail();
    const figures = { value: 30, mean: 4, stddev: 2, sigma: 13, samples: 28 };
    assert.deepEqual(rest, { day: TODAY, ...figures, direction: 'up', windowDays: 28, severity: 'critical' });
    assert.ok(chance > 0 && chance < 0.01 / 1500, `${chance}`);
  });

  // Computed by hand: deviation √max(s², mean, 1), s² the sample variance.
  for (const [what, kind, values, value, mean, stddev] of [
    ['a silent count', 'count', times(28, 0), 12, 0, 1],
    ['a steady count: the Poisson floor', 'count', times(28, 100), 160, 100, 10],
    ['a count of 60 or 140: s² = 28 · 40² / 27', 'count', alternating(60, 140), 300, 100, 40 * Math.sqrt(28 / 27)],
    ['a steady level', 'level', times(28, 400), 300, 400, 20],
    ['a level of half a window', 'level', times(14, 9), 30, 9, 3],
  ] as const) {
    it(`is measured in the window's own terms: ${what}`, () => {
      const found = judge(before(values), today(value), { kind, tests: 0 }) ?? assert.fail();
      assert.partialDeepStrictEqual(found, { samples: values.length, direction: value > mean ? 'up' : 'down' });
      const expected = [mean, stddev, (value - mean) / stddev];
      for (const [i, figure] of [found.mean, found.stddev, found.sigma].entries())
        assert.ok(Math.abs(figure - (expected[i] ?? Number.NaN)) < 1e-9, `${figure}, not ${expected[i]}`);
    });
  }
  it('is graded by its deviation', () => {
    const severityOf = (value: number) => judge(before(times(28, 100)), today(value), count(0))?.severity;
    assert.deepEqual([130, 140, 160, 200, 201].map(severityOf), ['low', 'low', 'medium', 'high', 'critical']);
  });
});

describe('no anomaly', () => {
  const none = (window: readonly Sample[], now: Sample, kind: SeriesKind = 'count') =>
    assert.equal(judge(window, now, { kind, tests: 0 }), undefined);
  it('is found below three deviations, or a change of five', () => {
    none(before(times(28, 100)), today(129));
    none(before(times(28, 0)), today(4));
    assert.ok(judge(before(times(28, 0)), today(5), count(0)));
  });
  it('is found by fewer than 14 samples', () => {
    none(before(times(13, 1)), today(1000));
    assert.ok(judge(before(times(14, 1)), today(1000), count()));
  });
  it('is found by samples of another time: today, later, or more than 28 days ago', () => {
    const old = before(times(40, 1)).filter((sample) => TODAY - sample.day > 28);
    const later = before(times(20, 1)).map((sample) => ({ ...sample, day: sample.day + 20 }));
    none([...old, ...later, ...before(times(13, 1))], today(1000));
  });
  it('is found for an invalid measurement', () => {
    const window = before(times(28, 1));
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, 1e300, -50]) none(window, today(value));
    for (const exposure of [0, -1, 0.5, Number.NaN, 1e300]) none(window, today(1000, exposure));
    none(before(times(28, -3)), today(1000));
  });
  it('is found by chance: the more series are judged that day, the more it takes', () => {
    const window = before(times(28, 1));
    const min = (tests: number) => {
      let value = 1;
      while (!judge(window, today(value), count(tests))) value += 1;
      return value;
    };
    const [one, many, max] = [min(1), min(1500), min(1e6)];
    assert.ok(one < many && many < max && max < 60, `${one}, ${many}, ${max}`);
  });
});

describe('a window', () => {
  it('leaves earlier anomalies out', () => {
    const values = times(28, 10);
    const window = before(values).map((sample, i) => (i === 20 ? { ...sample, value: 900 } : sample));
    assert.equal(judge(window, today(60), count(1500)), undefined, 'the anomaly hides the next one');
    const marked = window.map((sample, i) => (i === 20 ? { ...sample, isAnomaly: true } : sample));
    const found = judge(marked, today(60), count(1500));
    assert.deepEqual([found?.mean, found?.samples], [10, 27]);
    assert.deepEqual(found, judge(window.toSpliced(20, 1), today(60), count(1500)));
  });
  it('scales with the domains that were followed', () => {
    const half = before(times(28, 10), 1000);
    assert.equal(judge(half, today(20, 2000), count(0)), undefined, 'twice the panel, twice the events');
    assert.equal(judge(half, today(60, 2000), count(0))?.mean, 20);
    assert.ok(judge(before(times(28, 100), 2000), today(100, 1000), count(0)), 'half the panel, as many events');
    assert.equal(judge(before(times(28, 100), 1000), today(200, 2000), level(0)), undefined);
  });
  it('weighs a day by what it saw', () => {
    // 1 event on a day that saw 1 domain is not 1,000,000 events a day.
    const window = [...before(times(27, 50), 1_000_000), { day: TODAY - 28, value: 1, exposure: 1 }];
    const found = judge(window, today(200, 1_000_000), count(1500));
    assert.ok(found && Math.abs(found.mean - 50) < 0.1, `${found?.mean}`);
  });
});

describe('a level', () => {
  it('alarms on the day of its shift only', () => {
    const values = [...times(28, 1000), ...times(40, 500)];
    const window: Sample[] = [];
    for (const [day, value] of values.entries()) {
      const now = { day, value, exposure: 1000 };
      const isAnomaly = judge(window, now, level(1500)) !== undefined;
      window.push({ ...now, isAnomaly });
    }
    const alarms = window.filter(({ isAnomaly }) => isAnomaly).map(({ day }) => day);
    assert.deepEqual(alarms, [28]);
  });
  it('may drift: three deviations from the mean of the month are no news if each day brought its share', () => {
    const values = Array.from({ length: 28 }, (_, i) => 1000 + (i < 14 ? 0 : 60 * (i - 13)));
    assert.equal(judge(before(values), today(1900), level(0)), undefined);
    assert.ok(judge(before(values), today(3000), level(1500)));
  });
  it('that falls back to what it was is no anomaly of its own', () => {
    const window = before([...times(27, 1000), 500]);
    const marked = window.map((sample, i) => ({ ...sample, isAnomaly: i === 27 }));
    assert.equal(judge(marked, today(1000), level(0)), undefined);
    assert.ok(judge(marked, today(100), level(1500)), 'while a second fall is one');
  });
  it('is judged across a gap by the steps of as many days', () => {
    const walk = Array.from({ length: 28 }, (_, i) => 1000 + (i % 4 < 2 ? 4 : -4));
    const gap = before(walk).filter((sample) => TODAY - sample.day > 5);
    const found = judge(gap, today(500), level(1500));
    const direct = judge(before(walk), today(500), level(1500));
    assert.ok(found && direct && found.chance > direct.chance);
  });
  it('of a panel that doubled may be off by what chance brings in', () => {
    // 10 of 1,000 domains; of 100,000 then 1,000 are expected, ± √(10 · 99 · 100) = 315.
    const window = before(times(28, 10), 1000);
    assert.equal(judge(window, today(1300, 100_000), level(0)), undefined);
    assert.ok(judge(window, today(9000, 100_000), level(0)));
  });
});

describe('any series', () => {
  const kinds = fc.constantFrom<SeriesKind>('count', 'level');
  const tests = fc.constantFrom(0, 1, 1500, 1e7);
  const anyNumber = fc.double({ noNaN: true, noDefaultInfinity: true });
  const stepOf = (min: number, max: number) => fc.integer({ min, max });
  /** A month of counts or levels of any size, and a day to judge that is often far off. */
  const noises = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 28, maxLength: 28 });
  const ordinary = fc
    .tuple(stepOf(0, 2000), stepOf(0, 300), noises)
    .map(([base, spread, noise]) => before(noise.map((each) => Math.round(base + spread * each))));
  const values = stepOf(0, 10_000);
  it('gives a finite judgement for any finite input, and keeps to its own rules', () => {
    const wild = fc.record({
      day: fc.oneof(stepOf(TODAY - 30, TODAY + 2), anyNumber),
      value: fc.oneof(anyNumber, stepOf(-10, 1000), fc.constantFrom(0, 1e308, -1e308, 2 ** 53)),
      exposure: fc.oneof(anyNumber, stepOf(0, 1e6), fc.constantFrom(1, 5e-324, 2 ** 53 - 1)),
      isAnomaly: fc.boolean(),
    });
    const window = fc.array(wild, { minLength: 10, maxLength: 60 });
    holds(1000, [window, wild, kinds, tests], (days, now, kind, many) => {
      const found = judge(days, { ...now, day: TODAY }, { kind, tests: many });
      if (!found) return;
      const { mean, stddev, sigma, chance, samples } = found;
      assert.ok([mean, stddev, sigma, chance].every(Number.isFinite), JSON.stringify(found));
      assert.ok(stddev >= 1 && Math.abs(sigma) >= 3 && Math.abs(found.value - mean) >= 5);
      assert.ok(chance >= 0 && chance <= 1 && chance * many <= 0.01 && samples >= 14);
      assert.equal(found.direction === 'up', sigma > 0);
    });
  });
  it('does not depend on the order of its samples, nor on the unit of exposure', () =>
    holds(100, [ordinary, values, kinds], (window, value, kind) => {
      const options = { kind, tests: 10 };
      const found = judge(window, today(value), options);
      assert.deepEqual(judge(window.toReversed(), today(value), options), found);
      const doubled = window.map((each) => ({ ...each, exposure: each.exposure * 2 }));
      assert.equal(judge(doubled, today(value, 2000), options)?.sigma, found?.sigma);
    }));
  it('that is an anomaly among many is one among few', () =>
    holds(100, [ordinary, values, kinds, tests, tests], (window, value, kind, a, b) => {
      const strict = judge(window, today(value), { kind, tests: Math.max(a, b) });
      if (strict) assert.deepEqual(judge(window, today(value), { kind, tests: Math.min(a, b) }), strict);
    }));
  it('that is an anomaly is one still when the day is further off', () =>
    holds(100, [ordinary, values, stepOf(1, 5000), kinds], (window, value, further, kind) => {
      const options = { kind, tests: 1500 };
      const found = judge(window, today(value), options);
      if (found?.direction !== 'up') return;
      const next = judge(window, today(value + further), options);
      assert.ok(next && next.sigma > found.sigma && next.chance <= found.chance);
    }));
  it('of a level means the same upside down', () =>
    holds(100, [ordinary, values], (window, value) => {
      const options = { kind: 'level', tests: 1500 } as const;
      const flipped = window.map((each) => ({ ...each, value: -each.value }));
      const [found, mirrored] = [judge(window, today(value), options), judge(flipped, today(-value), options)];
      assert.equal(found && -found.sigma, mirrored?.sigma);
      assert.equal(found?.chance, mirrored?.chance);
    }));
});
