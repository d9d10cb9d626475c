// Cache headers and `retry-after`, honest and not.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freshMs, headerOf, retryAfterMs } from './freshness.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const MONTH_MS = 30 * 86_400_000;

const FRESH: readonly (readonly [Record<string, string>, number | null])[] = [
  [{}, null],
  [{ 'cache-control': 'max-age=3600' }, 3_600_000],
  [{ 'cache-control': 'public, MAX-AGE="60"' }, 60_000],
  [{ 'cache-control': 'max-age=9999999999' }, MONTH_MS],
  ...['s-maxage=60', 'max-age=-1', 'no-cache, max-age=60', `${'x'.repeat(2_000)},max-age=60`].map(
    (value) => [{ 'cache-control': value }, null] as const,
  ),
  [{ 'cache-control': 'max-age=60', expires: 'Sat, 21 Nov 2026 18:00:00 GMT' }, 60_000],
  [{ expires: 'Sat, 21 Nov 2026 18:00:00 GMT' }, 6 * 3_600_000],
  [{ expires: 'Sat, 21 Nov 2026 18:00:00 GMT', date: 'Sat, 21 Nov 2026 17:00:00 GMT' }, 3_600_000],
  [{ expires: 'Fri, 20 Nov 2026 18:00:00 GMT' }, null],
  [{ expires: '0' }, null],
];

for (const [headers, expected] of FRESH)
  test(`${JSON.stringify(headers).slice(0, 90)} is fresh for ${expected} ms`, () =>
    assert.equal(freshMs(headers, NOW), expected));

const RETRY: readonly (readonly [string, number | null])[] = [
  ['120', 120_000],
  ['9999999999', MONTH_MS],
  ['Sat, 21 Nov 2026 13:00:00 GMT', 3_600_000],
  ...['Sat, 21 Nov 2026 11:00:00 GMT', '99999999999', '-5', '1.5', 'soon'].map((value) => [value, null] as const),
];

for (const [value, expected] of RETRY)
  test(`retry-after ${value} is ${expected} ms`, () =>
    assert.equal(retryAfterMs({ 'retry-after': value }, NOW), expected));

test('a header is not found among what objects inherit, and none is sent back that is endless', () => {
  assert.equal(headerOf({}, 'constructor'), undefined);
  for (const etag of ['', 'x'.repeat(1_001)]) assert.equal(headerOf({ etag }, 'etag'), undefined);
});
