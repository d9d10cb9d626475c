import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CATEGORIES } from '@strata/detect';
import { holds } from '../../../tests/support/property.ts';
import { ChangeHistory, type IndexedChange } from './change-history.ts';
import { dayOf } from './daily-series.ts';
import { changes, DAYS, FIRST_DAY, scans } from './test/random-changes.ts';
import { PROVIDERS } from './test/random-domains.ts';

type Scans = readonly { readonly day: number; readonly scans: number; readonly rulebook: string }[];
const LAST_DAY = FIRST_DAY + DAYS - 1;

function historyOf(all: readonly IndexedChange[], scanned: Scans): ChangeHistory {
  const history = new ChangeHistory();
  for (const change of all) history.add(change);
  for (const { day, scans, rulebook } of scanned) history.addScans(day, { scans, measured: scans, rulebook });
  return history;
}

/** Every question but that of flows, against a walk over all changes. */
function check(history: ChangeHistory, all: readonly IndexedChange[], scanned: Scans): void {
  const windows = [`${FIRST_DAY} ${LAST_DAY}`, `${FIRST_DAY + 10} ${FIRST_DAY + 17}`, `${LAST_DAY} ${LAST_DAY}`];
  for (const window of [...windows, `${LAST_DAY} ${FIRST_DAY}`]) {
    const [from = 0, to = 0] = window.split(' ').map(Number);
    const within = all.filter(({ confirmedAt }) => dayOf(confirmedAt) >= from && dayOf(confirmedAt) <= to);
    const real = within.filter(({ type }) => type !== 'reclassified');
    for (const provider of PROVIDERS) {
      assert.deepEqual(history.movement({ provider }, from, to), {
        gained: real.filter((change) => change.to === provider && change.isEntry).length,
        lost: real.filter((change) => change.from === provider && change.isExit).length,
      });
      for (const category of CATEGORIES) {
        const here = real.filter((change) => change.category === category);
        assert.deepEqual(history.movement({ provider, category }, from, to), {
          gained: here.filter((change) => change.to === provider).length,
          lost: here.filter((change) => change.from === provider).length,
        });
      }
    }
    for (const category of CATEGORIES) {
      const migrated = real.filter((change) => change.category === category && change.type === 'migrated');
      assert.equal(history.migrations(category, from, to), migrated.length);
    }
  }
  for (const provider of PROVIDERS) {
    for (let day = FIRST_DAY; day <= LAST_DAY; day += 1) {
      const changed = all.filter((change) => change.type === 'reclassified' && dayOf(change.confirmedAt) === day);
      const sides = changed.flatMap(({ from, to }) => [from, to]).filter((side) => side === provider);
      assert.equal(history.reclassifiedOn({ provider }, day), sides.length);
    }
  }
  const days = [...new Set(scanned.map(({ day }) => day))].sort((a, b) => a - b);
  const sum = (some: Scans) => some.reduce((total, each) => total + each.scans, 0);
  const perDay = days.map((day) => ({ day, scans: sum(scanned.filter((each) => each.day === day)) }));
  assert.deepEqual(history.scanDays(), perDay);
  const later = perDay.filter(({ day }) => day >= FIRST_DAY + 20);
  assert.deepEqual(history.scanDays(FIRST_DAY + 20), later);
  assert.equal(history.scans, sum(scanned));
  const firsts = [...new Set(scanned.map(({ rulebook }) => rulebook))].map((rulebook) =>
    Math.min(...scanned.filter((each) => each.rulebook === rulebook).map(({ day }) => day)),
  );
  assert.equal(history.newestRulebookDay(), firsts.length === 0 ? undefined : Math.max(...firsts));
}

describe('the history of changes', () => {
  it('counts what a walk over all changes counts, in whatever order they come', () =>
    holds(60, [changes, scans], (all, scanned) => check(historyOf(all, scanned), all, scanned)));
  it('counts days from midnight to midnight UTC', () => {
    const midnight = Date.parse('2026-01-01T00:00:00Z');
    assert.deepEqual([midnight - 1, midnight, midnight + 86_399_999].map(dayOf), [20_453, 20_454, 20_454]);
  });
});
