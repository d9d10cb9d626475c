// When a feed is asked next, and what cache headers and `retry-after` say about it, honest and not.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { freshMs, headerOf, retryAfterMs } from './freshness.ts';
import { MAX_BACK_OFF_MS, MAX_FAILURES, nextPollAt, retryAt } from './schedule.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** A Saturday. */
const NOW = Date.parse('2026-11-21T12:00:00Z');
const NO_HINTS = { ttlMs: null, skipHours: [], skipDays: [] } as const;
const QUIET = { now: NOW, random: () => 0, freshMs: null, hints: NO_HINTS } as const;

type Minutes = number | null;
type Interval = [name: string, ago: Minutes, ttl: Minutes, fresh: Minutes, expected: number];
const ms = (minutes: Minutes) => (minutes === null ? null : minutes * MINUTE);

for (const [name, ago, ttl, fresh, expected] of casesOf<Interval[]>('feeds', 'minutes between polls'))
  test(`${name}: asked after ${expected} minutes`, () => {
    const lastNewAt = ago === null ? null : NOW - ago * MINUTE;
    const hints = { ...NO_HINTS, ttlMs: ms(ttl) };
    assert.equal(nextPollAt({ ...QUIET, lastNewAt, freshMs: ms(fresh), hints }) - NOW, expected * MINUTE);
  });

test('hours and days in which a feed need not be asked are passed over', () => {
  const at = (skipHours: number[], skipDays: number[]) => {
    const time = nextPollAt({ ...QUIET, lastNewAt: NOW, hints: { ttlMs: null, skipHours, skipDays } });
    return new Date(time).toISOString();
  };
  assert.equal(at([12, 13], []), '2026-11-21T14:15:00.000Z');
  assert.equal(at([], [6, 0]), '2026-11-23T00:15:00.000Z');
  assert.equal(at([], [0, 1, 2, 3, 4, 5, 6]), '2026-11-21T12:15:00.000Z');
});

const after = (more: Partial<Parameters<typeof retryAt>[0]>) =>
  retryAt({ now: 0, random: () => 0, failures: 1, retryAfterMs: null, ...more });

test('backoff doubles from an hour to seven days, is spread by a tenth, and respects what the server asks for', () => {
  const hours = [1, 2, 3, 8, 9, 16, 1_000].map((failures) => after({ failures }) / HOUR);
  assert.deepEqual(hours, [1, 2, 4, 128, 168, 168, 168]);
  assert.equal(after({ random: () => 0.5 }), 1.05 * HOUR);
  const asked = [MINUTE, 5 * HOUR, 365 * DAY].map((retryAfterMs) => after({ retryAfterMs }));
  assert.deepEqual(asked, [HOUR, 5 * HOUR, MAX_BACK_OFF_MS]);
});

test('a feed that fails is given up after sixty days at the earliest', () => {
  let waited = 0;
  for (let failures = 1; failures <= MAX_FAILURES; failures++) waited += after({ failures });
  assert.ok(waited >= 60 * DAY && waited < 90 * DAY);
});

const FRESH = casesOf<[Record<string, string>, number | null][]>('feeds', 'milliseconds that headers are fresh');
FRESH.push([{ 'cache-control': `${'x'.repeat(2_000)},max-age=60` }, null]);
for (const [headers, expected] of FRESH)
  test(`${JSON.stringify(headers).slice(0, 90)} is fresh for ${expected} ms`, () =>
    assert.equal(freshMs(headers, NOW), expected));

for (const [value, expected] of casesOf<[string, number | null][]>('feeds', 'milliseconds of retry-after'))
  test(`retry-after ${value}: ${expected}`, () => assert.equal(retryAfterMs({ 'retry-after': value }, NOW), expected));

test('inherited properties are not headers, and endless headers are not sent back', () => {
  assert.equal(headerOf({}, 'constructor'), undefined);
  for (const etag of ['', 'x'.repeat(1_001)]) assert.equal(headerOf({ etag }, 'etag'), undefined);
});
