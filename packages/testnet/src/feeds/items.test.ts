import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createCalendar } from './calendar.ts';
import { cdata, dateTime, encode, escapeXml, rfc822 } from './formats/xml.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOON = Date.parse('2026-03-10T12:00:00Z');

function calendarAt(start: number) {
  const state = { at: start, day: 0 };
  const calendar = createCalendar({ now: () => new Date(state.at), today: () => state.day });
  return { calendar, set: (day: number, at: number) => Object.assign(state, { day, at }) };
}

describe('the calendar of feeds', () => {
  it('dates a day when it is first asked about, within that day of the clock', () => {
    const { set, calendar } = calendarAt(NOON - DAY);
    set(0, NOON);
    for (const [day, at, noon] of [
      [0, NOON, NOON],
      [1, NOON + DAY, NOON + DAY],
      [1, NOON + DAY + HOUR, NOON + DAY],
    ] as const) {
      set(day, at);
      assert.deepEqual(calendar.spanOf(day), { from: noon - 12 * HOUR, to: noon });
    }
    assert.equal(calendar.spanOf(0).to, NOON);
  });
  it('keeps order and stays behind the clock when days pass faster than it, or it is set back', () => {
    const { set, calendar } = calendarAt(NOON);
    const minutes: Readonly<Record<string, number>> = { 0: 0, 1: 0, 2: 1, 5: 1, 6: -1_440 };
    for (const [day, minute] of Object.entries(minutes)) {
      set(Number(day), NOON + minute * 60_000);
      calendar.today();
    }
    for (let day = 1; day <= 6; day += 1) {
      const { from, to } = calendar.spanOf(day);
      assert.ok(from <= to && from >= calendar.spanOf(day - 1).to && to <= NOON + 60_000, `day ${day}`);
    }
  });
  it('knows no day that has not come', () => assert.throws(() => calendarAt(NOON).calendar.spanOf(1), RangeError));
});

describe('text as feeds carry it', () => {
  it('is escaped, and sections are split where they would end', () => {
    assert.equal(escapeXml('a & b < "c"'), 'a &amp; b &lt; &#34;c&#34;');
    assert.equal(cdata('a[b[0]]>1'), '<![CDATA[a[b[0]]]]><![CDATA[>1]]>');
  });
  it('is the same again when read in the encoding that it was written in', () => {
    const text = 'Crème brûlée for €3 – it’s “so” <good>…';
    for (const charset of ['utf-8', 'windows-1252', 'utf-16le', 'utf-16be'] as const)
      assert.equal(new TextDecoder(charset, { fatal: true }).decode(encode(text, charset)), text, charset);
    assert.throws(() => encode('日本', 'windows-1252'), RangeError);
  });
  it('has dates of one moment in Greenwich or two hours east of it', () => {
    const at = Date.parse('2026-03-10T23:20:05Z');
    const utc = ['Tue, 10 Mar 2026 23:20:05 GMT', '2026-03-10T23:20:05Z'];
    assert.deepEqual([rfc822(at, 'utc'), dateTime(at, 'utc')], utc);
    const east = ['Wed, 11 Mar 2026 01:20:05 +0200', '2026-03-11T01:20:05+02:00'];
    assert.deepEqual([rfc822(at, 'east'), dateTime(at, 'east')], east);
  });
});
