import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createCalendar } from './calendar.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOON = Date.parse('2026-03-10T12:00:00Z');

function calendarAt(at: number) {
  const state = { at, day: 0 };
  const calendar = createCalendar({ now: () => new Date(state.at), today: () => state.day });
  return { state, calendar };
}

describe('the calendar of feeds', () => {
  it('dates a day when it is first asked about, within that day of the clock', () => {
    const { state, calendar } = calendarAt(NOON - DAY);
    state.at = NOON;
    assert.deepEqual(calendar.spanOf(0), { from: NOON - 12 * HOUR, to: NOON });
    state.day = 1;
    state.at = NOON + DAY;
    assert.deepEqual(calendar.spanOf(1), { from: NOON + 12 * HOUR, to: NOON + DAY });
    state.at = NOON + DAY + HOUR;
    assert.deepEqual(calendar.spanOf(1), { from: NOON + 12 * HOUR, to: NOON + DAY });
    assert.deepEqual(calendar.spanOf(0), { from: NOON - 12 * HOUR, to: NOON });
  });

  it('has whole days before day 0', () => {
    const { calendar } = calendarAt(NOON);
    assert.deepEqual(calendar.spanOf(-1), { from: NOON - 36 * HOUR, to: NOON - 12 * HOUR - 1 });
    assert.deepEqual(calendar.spanOf(-30), { from: NOON - 12 * HOUR - 30 * DAY, to: NOON - 12 * HOUR - 29 * DAY - 1 });
  });

  it('lays days that nobody asked about evenly between', () => {
    const { state, calendar } = calendarAt(NOON);
    calendar.today();
    state.day = 4;
    state.at = NOON + 4 * DAY;
    for (const day of [1, 2, 3, 4]) assert.equal(calendar.spanOf(day).to, NOON + day * DAY);
  });

  it('keeps order and stays behind the clock when days pass faster than it, or it is set back', () => {
    const { state, calendar } = calendarAt(NOON);
    for (const [day, at] of [
      [1, NOON],
      [2, NOON + 60_000],
      [5, NOON + 60_000],
      [6, NOON - DAY],
    ] as const) {
      calendar.today();
      state.day = day;
      state.at = at;
    }
    calendar.today();
    for (let day = 1; day <= 6; day += 1) {
      const { from, to } = calendar.spanOf(day);
      assert.ok(from <= to && from >= calendar.spanOf(day - 1).to && to <= NOON + 60_000, `day ${day}`);
    }
  });

  it('knows no day that has not come', () => {
    assert.throws(() => calendarAt(NOON).calendar.spanOf(1), RangeError);
  });
});
