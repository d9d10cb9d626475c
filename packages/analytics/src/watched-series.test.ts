import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CATEGORIES } from '@strata/detect';
import fc from 'fast-check';
import { holds } from '../../../tests/support/property.ts';
import { WINDOW_DAYS } from './anomaly.ts';
import { readableDays } from './anomaly-days.ts';
import type { IndexedChange } from './change-history.ts';
import { DAY_MS, dayOf } from './daily-series.ts';
import { indexOf, plainDomains, using } from './test/firms.ts';
import { changes, DAYS, FIRST_DAY } from './test/random-changes.ts';
import { type WatchedSeries, watchedSeries } from './watched-series.ts';

const NOW = FIRST_DAY + DAYS - 1;
const DAY = NOW - 1;
const SCANS = 100;
const DOMAINS = 60;

/** Sixty users of acme, a hundred scans a day but on the days of a gap, all by one rulebook. */
function worldOf(all: readonly IndexedChange[], gaps: readonly number[]) {
  const index = indexOf(plainDomains([DOMAINS, using('email acme high')]));
  for (const change of all) index.history.add(change);
  for (let day = FIRST_DAY - 5; day <= NOW; day += 1) {
    if (!gaps.includes(day)) index.history.addScans(day, { scans: SCANS, measured: SCANS, rulebook: 'r1' });
  }
  return index;
}

function find(series: readonly WatchedSeries[], subject: string, metric: WatchedSeries['metric']) {
  const [found, ...others] = series.filter((each) => each.subject === subject && each.metric === metric);
  assert.deepEqual(others, []);
  return found;
}

const gapsOf = fc.uniqueArray(
  fc.nat(WINDOW_DAYS).map((back) => DAY - back),
  { maxLength: 4 },
);

describe('the watched series', () => {
  it('are what a walk over all changes gives, without the days that show nothing', () =>
    holds(60, [changes, gapsOf], (all, gaps) => {
      const index = worldOf(all, gaps);
      const series = [...watchedSeries(index, { day: DAY, now: NOW })];
      const readable = readableDays(index.history.scanDays(DAY - WINDOW_DAYS - 1), DAY);
      if (!readable.isReadable(DAY)) {
        assert.deepEqual(series, []);
        return;
      }
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
        return found;
      };
      for (const provider of index.history.providers()) {
        const real = (day: number) => on(day).filter(({ type }) => type !== 'reclassified');
        const gained = (day: number) => real(day).filter(({ to, isEntry }) => to === provider && isEntry).length;
        const lost = (day: number) => real(day).filter(({ from, isExit }) => from === provider && isExit).length;
        const sampled = days.filter((day) => readable.isReadable(day) && isCalm(day, provider));
        const expect = (metric: 'domains' | 'gains' | 'losses', valueOn: (day: number) => number) => {
          const isCount = metric !== 'domains';
          const kept = sampled.filter((day) => !isCount || !readable.followsGap(day));
          const found = expectSamples(provider, metric, kept, (day) => [valueOn(day), isCount ? DOMAINS : 1]);
          if (found) assert.equal(found.kind, isCount ? 'count' : 'level');
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

  it('take a day on which nothing could be resolved for a gap, and not for a day without change', () => {
    const index = worldOf([], [DAY - 1]);
    index.history.addScans(DAY - 1, { scans: SCANS * 3, measured: 0, rulebook: 'r1' });
    const readable = readableDays(index.history.scanDays(DAY - WINDOW_DAYS - 1), DAY);
    const days = [DAY - 2, DAY - 1, DAY].map((day) => `${readable.isReadable(day)} ${readable.followsGap(day)}`);
    assert.deepEqual(days, ['true false', 'false false', 'true true']);
    const before = worldOf([], []).history.scans;
    assert.equal(index.history.scans, before - SCANS + SCANS * 3, 'all of them are counted');
  });

  it('of a provider that newer rules made visible begin with those rules', () => {
    const added = (day: number, to: string): IndexedChange => ({
      ...{ at: 0, confirmedAt: day * DAY_MS, category: 'email', type: 'added', from: null, to },
      ...{ isEntry: true, isExit: false },
    });
    const index = worldOf([added(DAY, 'borealis'), added(DAY - 20, 'acme'), added(DAY, 'acme')], []);
    index.history.addScans(DAY - 3, { scans: 1, measured: 1, rulebook: 'r2' });
    const series = [...watchedSeries(index, { day: DAY, now: NOW })];
    const days = find(series, 'borealis', 'gains')?.samples.map(({ day }) => day);
    assert.deepEqual(days, [DAY - 3, DAY - 2, DAY - 1]);
    assert.equal(find(series, 'acme', 'gains')?.samples.length, WINDOW_DAYS);
  });
});
