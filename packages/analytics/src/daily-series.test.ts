import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../tests/support/property.ts';
import { DailySeries, dayOf } from './daily-series.ts';

const WIDTH = 3;
const count = fc.record({
  day: fc.integer({ min: 100, max: 130 }),
  field: fc.nat(WIDTH - 1),
  count: fc.integer({ min: 1, max: 9 }),
});
const counts = fc.array(count, { maxLength: 80, size: 'max' });
type Count = { readonly day: number; readonly field: number; readonly count: number };

function seriesOf(all: readonly Count[]): DailySeries {
  const series = new DailySeries(WIDTH);
  for (const { day, field, count } of all) series.add(day, field, count);
  return series;
}

function check(series: DailySeries, all: readonly Count[]): void {
  const sum = (field: number, from: number, to: number) =>
    all
      .filter((each) => each.field === field && each.day >= from && each.day <= to)
      .reduce((total, { count }) => total + count, 0);
  for (let field = 0; field < WIDTH; field += 1) {
    for (let day = 98; day <= 132; day += 1) {
      assert.equal(series.on(day, field), sum(field, day, day));
      assert.equal(series.sum(field, day, day + 7), sum(field, day, day + 7));
    }
    const all = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY] as const;
    assert.equal(series.sum(field, ...all), sum(field, ...all));
    assert.equal(series.sum(field, 120, 110), 0);
  }
  const days = [...new Set(all.map(({ day }) => day))].sort((a, b) => a - b);
  assert.deepEqual(series.days(), days);
  const later = days.filter((day) => day >= 115);
  assert.deepEqual(series.days(115), later);
}

describe('a daily series', () => {
  it('counts each day and each field, in whatever order the days come', () =>
    holds(100, [counts], (all) => check(seriesOf(all), all)));

  it('counts days from midnight to midnight UTC', () => {
    assert.equal(dayOf(Date.parse('2026-01-01T00:00:00Z')), 20_454);
    assert.equal(dayOf(Date.parse('2026-01-01T00:00:00Z') - 1), 20_453);
    assert.equal(dayOf(Date.parse('2026-01-01T23:59:59.999Z')), 20_454);
  });
});
