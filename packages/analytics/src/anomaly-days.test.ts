import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readableDays } from './anomaly-days.ts';

const TODAY = 100;
/** The scans of the last days, today last. */
const ending = (...scans: number[]) => scans.map((each, i) => ({ day: TODAY - scans.length + 1 + i, scans: each }));
const steady = (scans: number) => Array.from({ length: 30 }, () => scans);
/** A 1 for each day that is readable. */
const readable = (...scans: number[]) => {
  const days = readableDays(ending(...scans), TODAY);
  return scans.map((_, i) => Number(days.isReadable(TODAY - scans.length + 1 + i))).join('');
};

describe('readable days', () => {
  it('are those with at least half the scans of a usual day', () =>
    assert.equal(readable(100, 100, 49, 50, 51, 100, 100, 0), '11011110'));
  // Median of 40, 100, 140, 200 is 120.
  it('take the middle of two medians', () => assert.equal(readable(100, 40, 200, 140), '1011'));
  it('leave today out while it has hardly begun', () => assert.match(readable(...steady(1000), 20), /0$/));
  it('do not count days without a scan towards the median', () => assert.equal(readable(0, 0, 0, 10, 0, 10), '000101'));
  it('take nothing for a measurement that is none', () => assert.equal(readable(-5, Number.NaN, 10, 10), '0011'));
  it('are none without scans, and none outside the window', () => {
    assert.equal(readableDays([], TODAY).isReadable(TODAY), false);
    const days = readableDays(ending(...steady(10)), TODAY);
    const isReadable = [TODAY - 29, TODAY - 28, TODAY, TODAY + 1].map((day) => days.isReadable(day));
    assert.deepEqual(isReadable, [false, true, true, false]);
  });
  it('know which day collects the events of a gap', () => {
    const days = readableDays(ending(10, 10, 3, 0, 10, 10), TODAY);
    const following = [5, 4, 3, 2, 1, 0].filter((age) => days.followsGap(TODAY - age));
    // The first day of all collects everything before it.
    assert.deepEqual(following, [5, 1]);
  });
  it('know of the day before the window whether it was a gap', () => {
    const follows = (before: number) =>
      readableDays(ending(before, ...steady(10).slice(1)), TODAY).followsGap(TODAY - 28);
    assert.deepEqual([follows(10), follows(2)], [false, true]);
  });
});
