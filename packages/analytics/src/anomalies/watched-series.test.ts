import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CATEGORIES } from '@strata/detect';
import { fc, holds } from '../../../../tests/support/property.ts';
import type { IndexedChange } from '../history/change-history.ts';
import { DAY_MS, dayOf } from '../history/daily-series.ts';
import { usersOf } from '../questions/providers.ts';
import { indexOf, plainDomains, using } from '../test/firms.ts';
import { changes, DAYS, FIRST_DAY } from '../test/random-changes.ts';
import { WINDOW_DAYS } from './anomaly.ts';
import { readableDays, type WatchedSeries, watchedSeries } from './watched-series.ts';

const NOW = FIRST_DAY + DAYS - 1;
const DAY = NOW - 1;
const SCANS = 100;
const DOMAINS = 60;

/** Sixty users of acme, a hundred scans a day but on the days of a gap, all by one rulebook. */
function worldOf(all: readonly IndexedChange[], gapAges: readonly number[]) {
  const index = indexOf(plainDomains([DOMAINS, using('email acme high')]));
  for (const change of all) index.history.add(change);
  for (let day = FIRST_DAY - 5; day <= NOW; day += 1)
    if (!gapAges.includes(DAY - day)) index.history.scans.add(day, { scans: SCANS, measured: SCANS, rulebook: 'r1' });
  return { size: index.size, history: index.history, usersOf: (id: string) => usersOf(index, id) };
}

function find(series: readonly WatchedSeries[], subject: string, metric: WatchedSeries['metric']) {
  const [found, ...rest] = series.filter((each) => each.subject === subject && each.metric === metric);
  assert.deepEqual(rest, []);
  return found;
}

it('the watched series are what a walk over all changes gives, without the days that show nothing', () =>
  holds(60, [changes, fc.uniqueArray(fc.nat(WINDOW_DAYS), { maxLength: 4 })], (all, ages) => {
    const index = worldOf(all, ages);
    const series = [...watchedSeries(index, { day: DAY, now: NOW })];
    const readable = readableDays(index.history.scans.days(DAY - WINDOW_DAYS - 1), DAY);
    if (!readable.isReadable(DAY)) return assert.deepEqual(series, []);
    const days = Array.from({ length: WINDOW_DAYS + 1 }, (_, i) => DAY - WINDOW_DAYS + i);
    const on = (day: number) => all.filter(({ confirmedAt }) => dayOf(confirmedAt) === day);
    const isCalm = (day: number, provider: string) =>
      !on(day).some(({ type, from, to }) => type === 'reclassified' && [from, to].includes(provider));
    const expectSamples = (
      subject: string,
      metric: WatchedSeries['metric'],
      kept: readonly number[],
      sampleOn: (day: number) => readonly [value: number, exposure: number],
    ) => {
      const found = find(series, subject, metric);
      if (!kept.includes(DAY)) return assert.equal(found, undefined);
      const samples = kept.map((day) => ({ day, value: sampleOn(day)[0], exposure: sampleOn(day)[1] }));
      assert.deepEqual([...(found?.samples ?? []), found?.today], samples);
      assert.equal(found?.kind, metric === 'domains' ? 'level' : 'count');
    };
    for (const provider of index.history.providers()) {
      const real = (day: number) => on(day).filter(({ type }) => type !== 'reclassified');
      const gained = (day: number) => real(day).filter(({ to, isEntry }) => to === provider && isEntry).length;
      const lost = (day: number) => real(day).filter(({ from, isExit }) => from === provider && isExit).length;
      const sampled = days.filter((day) => readable.isReadable(day) && isCalm(day, provider));
      const expect = (metric: 'domains' | 'gains' | 'losses', valueOn: (day: number) => number) => {
        const isCount = metric !== 'domains';
        const kept = sampled.filter((day) => !isCount || !readable.followsGap(day));
        expectSamples(provider, metric, kept, (day) => [valueOn(day), isCount ? DOMAINS : 1]);
      };
      let level = provider === 'acme' ? DOMAINS : 0;
      const levels = new Map<number, number>();
      for (let day = NOW; day >= DAY - WINDOW_DAYS; day -= 1) {
        levels.set(day, level);
        level -= gained(day) - lost(day);
      }
      expect('domains', (day) => levels.get(day) ?? Number.NaN);
      expect('gains', gained);
      expect('losses', lost);
    }
    for (const category of CATEGORIES) {
      const kept = days.filter((day) => readable.isReadable(day) && !readable.followsGap(day));
      const migrated = (day: number) =>
        on(day).filter((change) => change.type === 'migrated' && change.category === category).length;
      expectSamples(category, 'migrations', kept, (day) => [migrated(day), DOMAINS]);
    }
  }));
it('the watched series take a day on which nothing could be resolved for a gap, and not for a day without change', () => {
  const index = worldOf([], [1]);
  index.history.scans.add(DAY - 1, { scans: SCANS * 3, measured: 0, rulebook: 'r1' });
  const readable = readableDays(index.history.scans.days(DAY - WINDOW_DAYS - 1), DAY);
  const days = [DAY - 2, DAY - 1, DAY].map((day) => `${readable.isReadable(day)} ${readable.followsGap(day)}`);
  assert.deepEqual(days, ['true false', 'false false', 'true true']);
  assert.equal(index.history.scans.total, worldOf([], []).history.scans.total + SCANS * 2, 'all of them are counted');
});
it('the watched series of a provider that newer rules made visible begin with those rules', () => {
  const added = (day: number, to: string): IndexedChange => ({
    domainId: 1,
    ...{ at: 0, confirmedAt: day * DAY_MS, category: 'email', type: 'added', from: null, to },
    ...{ isEntry: true, isExit: false },
  });
  const index = worldOf([added(DAY, 'borealis'), added(DAY - 20, 'acme'), added(DAY, 'acme')], []);
  index.history.scans.add(DAY - 3, { scans: 1, measured: 1, rulebook: 'r2' });
  const series = [...watchedSeries(index, { day: DAY, now: NOW })];
  const days = find(series, 'borealis', 'gains')?.samples.map(({ day }) => day);
  assert.deepEqual(days, [DAY - 3, DAY - 2, DAY - 1]);
  assert.equal(find(series, 'acme', 'gains')?.samples.length, WINDOW_DAYS);
});

describe('readable days', () => {
  /** The scans of the last days, today last. */
  const ending = (...scans: number[]) => scans.map((each, i) => ({ day: DAY - scans.length + 1 + i, scans: each }));
  const steady = (scans: number) => Array.from({ length: 30 }, () => scans);
  /** A 1 for each day that is readable. */
  const readable = (...scans: number[]) => {
    const days = readableDays(ending(...scans), DAY);
    return scans.map((_, i) => Number(days.isReadable(DAY - scans.length + 1 + i))).join('');
  };
  it('are those with at least half the scans of a usual day', () =>
    assert.equal(readable(100, 100, 49, 50, 51, 100, 100, 0), '11011110'));
  // Median of 40, 100, 140, 200 is 120.
  it('take the middle of two medians', () => assert.equal(readable(100, 40, 200, 140), '1011'));
  it('leave today out while it has hardly begun', () => assert.match(readable(...steady(1000), 20), /0$/));
  it('do not count days without a scan towards the median', () => assert.equal(readable(0, 0, 0, 10, 0, 10), '000101'));
  it('do not accept invalid values as measurements', () => assert.equal(readable(-5, Number.NaN, 10, 10), '0011'));
  it('do not exist without scans or outside the window', () => {
    assert.equal(readableDays([], DAY).isReadable(DAY), false);
    const days = readableDays(ending(...steady(10)), DAY);
    const isReadable = [DAY - 29, DAY - 28, DAY, DAY + 1].map((day) => days.isReadable(day));
    assert.deepEqual(isReadable, [false, true, true, false]);
  });
  it('know which day collects the events of a gap', () => {
    const days = readableDays(ending(10, 10, 3, 0, 10, 10), DAY);
    const following = [5, 4, 3, 2, 1, 0].filter((age) => days.followsGap(DAY - age));
    // The first day of all collects everything before it.
    assert.deepEqual(following, [5, 1]);
    // The day before the window may have been one.
    const follows = (before: number) => readableDays(ending(before, ...steady(10).slice(1)), DAY).followsGap(DAY - 28);
    assert.deepEqual([follows(10), follows(2)], [false, true]);
  });
});
