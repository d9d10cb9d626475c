// Date formats of real feeds, and invalid dates: vectors/dates.json.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc, holds } from '../../../../tests/support/property.ts';
import { vectorsIn } from '../../../../tests/support/vectors.ts';
import { parseDate } from './parse-date.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');

const { dates } = vectorsIn<{ dates: { text: string; time: string | null }[] }>('dates.json');
for (const { text, time } of dates)
  test(`the date "${text}" is ${time ?? 'invalid'}`, () =>
    assert.equal(parseDate(text, NOW), time === null ? null : Date.parse(time)));

test('random text never throws and never gives a time that cannot be believed, nor do a million characters', () => {
  const words = fc.constantFrom('Tue,', '3', '03', '2003', 'Jun', '09:39', '-0500', 'PM', 'Z', '-', '99', 'T');
  const rows = fc.array(words).map((list) => list.join(' '));
  const texts = fc.oneof(fc.string(), rows);
  holds(100, [texts], (text) => {
    const time = parseDate(text, NOW);
    return time === null || (Number.isInteger(time) && time >= Date.UTC(1901, 0) && time <= NOW + 86_400_000);
  });
  assert.equal(parseDate('Jun 3 '.repeat(200_000), NOW), null);
});
