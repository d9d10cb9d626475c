// Date formats of real feeds, and invalid dates.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../../tests/support/property.ts';
import { parseDate } from './parse-date.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');

const DATES: Readonly<Record<string, readonly string[]>> = {
  '2003-06-03T09:39:21Z': [
    ...['Tue, 03 Jun 2003 09:39:21 GMT', 'Tue, 3 Jun 2003 9:39:21 GMT', 'Tue, 03 Jun 2003 09:39:21'],
    ...['Tue, 03 Jun 2003 09:39:21 (Whatever)', 'Tue Jun  3 09:39:21 2003', '03-Jun-2003 09:39:21'],
    ...['2003-06-03T09:39:21Z', '2003-06-03t09:39:21.123456z', '2003-06-03 09:39:21 UTC', '20030603T093921Z'],
  ],
  '2003-06-03T14:39:00Z': ['03 Jun 03 09:39 EST'],
  '2003-06-03T14:09:21Z': ['Tue, 03 Jun 2003 09:39:21 -0430'],
  '2003-06-03T07:39:21Z': [
    ...['Tue, 03 Jun 2003 09:39:21 +02:00', 'Tue, 03 Jun 2003 09:39:21 GMT+2', 'Tue, 03 Jun 2003 09:39:21 CEST'],
    'Di, 03 Jun 2003 09:39:21 +0200',
  ],
  '2003-06-03T16:39:21Z': ['Tue, 03 Jun 2003 09:39:21 PDT'],
  '2003-06-03T00:00:00Z': ['tuesday, 03 june 2003', 'June 3, 2003', '2003-06-03', '20030603'],
  '2000-01-01T00:00:00Z': ['Sun, 31 Dec 99 23:59:60 GMT'],
  '2003-06-03T13:39:21Z': ['Tue Jun 3 09:39:21 EDT 2003'],
  '2003-06-03T00:05:00Z': ['June 3rd, 2003 12:05 am'],
  '2003-06-03T17:05:00Z': ['June 3, 2003 12:05 p.m. EST'],
  '2003-01-01T00:00:00Z': ['2003'],
  '2003-06-01T00:00:00Z': ['2003-06'],
  '2003-06-03T09:39:00Z': ['2003-06-03T09:39'],
  '2003-06-03T04:09:21Z': ['2003-06-03T09:39:21+05:30'],
  '2026-11-22T11:59:59Z': ['2026-11-22T11:59:59Z'],
  '1994-12-31T23:59:59Z': ['1994-12-31T23:59:59Z'],
  '1948-02-04T10:00:00Z': ['Wed, 04 Feb 1948 10:00:00 GMT'],
  '1970-01-03T00:00:00Z': ['1970-01-03T00:00:00Z'],
  '2026-11-17T09:00:00Z': ['Mar, 17 Nov 2026 10:00:00 +0100'],
  '2026-11-17T10:00:00Z': ['mar. 17 nov. 2026 10:00', 'Mar Nov 17 10:00:00 2026'],
  '2026-03-17T10:00:00Z': ['Mar, 17 Mar 2026 10:00:00 GMT', '17 Mar 2026 10:00 NOVT'],
  '2026-03-17T00:00:00Z': ['Mar 17, 2026'],
};
const NONE = [
  ...['2026-11-22T12:00:01Z', '1970-01-01T02:00:00+02:00', 'Wed, 31 Dec 1969 19:00:00 EST', '1900-01-01T00:00:00Z'],
  ...['0001-01-01T00:00:00Z', 'Thu, 01 Jan 1970 00:00:00 GMT', '0000-00-00 00:00:00', '2003-02-29', '2003-13-01'],
  ...['2003-06-03T25:00:00Z', 'Tue, 31 Feb 2003 00:00:00 GMT', 'Tue, 03 Jun 2003 09:39:21 +9900', '03/06/2003'],
  ...['1054633161', '', 'yesterday', 'constructor 3 __proto__ 2003'],
];

for (const [expected, texts] of Object.entries(DATES))
  for (const text of texts)
    test(`the date "${text}" is ${expected}`, () => {
      const time = parseDate(text, NOW) ?? assert.fail('none');
      assert.equal(new Date(time).toISOString().replace('.000Z', 'Z'), expected);
    });
for (const text of NONE) test(`the date "${text}" is invalid`, () => assert.equal(parseDate(text, NOW), null));

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
