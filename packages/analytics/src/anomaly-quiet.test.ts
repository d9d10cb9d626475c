// The small form of bench/false-alarms.ts: chance alone gives hardly an alarm, and real events among it are found.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { judge } from './anomaly.ts';
import { judgeAll, type QuietOptions, type QuietSeries, quietYear, withLoss } from './test/quiet-year.ts';

const world = { providers: 100, days: 120, domains: 300_000, seed: 11 };
const TESTS = 300;
const alarms = (series: readonly QuietSeries[], tests: number) =>
  series.flatMap((each) => judgeAll(each, tests)).length;

describe('a quiet season of 100 providers', () => {
  // 0.01 a day would be 1.1 alarms; without the rule about how many are judged there are many times as many.
  const worlds: [string, Partial<QuietOptions>][] = [
    ['of single events', {}],
    ['in batches of two', { batch: 2 }],
    ['with rates that sway by half', { sway: 0.5 }],
    ['with a panel that doubles', { growth: 0.006 }],
    ['with one day in seven not scanned', { gaps: 1 / 7 }],
  ];
  for (const [what, options] of worlds) {
    it(`gives at most two alarms: ${what}`, () => {
      const found = alarms(quietYear({ ...world, ...options }), TESTS);
      assert.ok(found <= 2, `${found} alarms`);
    });
  }
  it('gives many more when each series is judged as if it were the only one', () => {
    const series = quietYear({ ...world, batch: 2 });
    const [alone, among] = [alarms(series, 0), alarms(series, TESTS)];
    assert.ok(alone > 20 * (among + 1), `${alone} and ${among}`);
  });
});

describe('an event in a quiet season', () => {
  const day = 90;
  const series = quietYear(world);
  const isFound = (each: QuietSeries, domains: number) => {
    const { kind, samples } = withLoss(each, { day, domains });
    const now = samples.find((sample) => sample.day === day);
    return now !== undefined && judge(samples, now, { kind, tests: TESTS }) !== undefined;
  };
  const rateOf = ({ samples }: QuietSeries) => samples.reduce((sum, { value }) => sum + value, 0) / samples.length;

  it('is found: 30 domains lost in a day where 1 is usual', () => {
    const ones = series.filter((each) => each.metric === 'losses' && rateOf(each) > 0.5 && rateOf(each) < 1.5);
    assert.ok(ones.length > 10);
    const missed = ones.filter((each) => !isFound(each, 30)).map((each) => each.provider);
    assert.deepEqual(missed, []);
  });
  it('is found: half of the domains lost in a day, in losses and in what is left', () => {
    for (const each of series.filter((one) => one.metric !== 'gains')) {
      const level = series.find((one) => one.provider === each.provider && one.metric === 'domains');
      const held = level?.samples.find((sample) => sample.day === day - 1)?.value ?? 0;
      assert.ok(isFound(each, Math.floor(held / 2)), `${each.metric} of provider ${each.provider}, ${held} domains`);
    }
  });
});
