// When a feed is asked next.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_BACK_OFF_MS, MAX_FAILURES, nextPollAt, retryAt } from './schedule.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** A Saturday. */
const NOW = Date.parse('2026-11-21T12:00:00Z');
const NO_WISHES = { ttlMs: null, skipHours: [], skipDays: [] } as const;
const QUIET = { now: NOW, random: () => 0, freshMs: null, wishes: NO_WISHES } as const;

const INTERVALS: readonly (readonly [string, number | null, number | null, number | null, number])[] = [
  ['new a moment ago', 0, null, null, 15 * MINUTE],
  ['new in the future', -DAY, null, null, 15 * MINUTE],
  ['new two hours ago', 2 * HOUR, null, null, 30 * MINUTE],
  ['new a day ago', DAY, null, null, 6 * HOUR],
  ['new a year ago', 365 * DAY, null, null, DAY],
  ['never anything', null, null, null, 6 * HOUR],
  ['new a moment ago, asks for an hour', 0, HOUR, null, HOUR],
  ['new a moment ago, asks for three days', 0, 3 * DAY, null, 3 * DAY],
  ['new a moment ago, asks for a month', 0, 30 * DAY, null, 7 * DAY],
  ['new a moment ago, fresh for a month', 0, null, 30 * DAY, DAY],
  ['new a moment ago, fresh for three hours', 0, HOUR, 3 * HOUR, 3 * HOUR],
  ['new a day ago, asks for an hour', DAY, HOUR, null, 6 * HOUR],
];

for (const [name, ago, ttlMs, freshMs, expected] of INTERVALS)
  test(`${name}: asked after ${expected / MINUTE} minutes`, () => {
    const lastNewAt = ago === null ? null : NOW - ago;
    assert.equal(nextPollAt({ ...QUIET, lastNewAt, freshMs, wishes: { ...NO_WISHES, ttlMs } }) - NOW, expected);
  });

test('hours and days in which a feed need not be asked are passed over', () => {
  const at = (skipHours: number[], skipDays: number[]) => {
    const time = nextPollAt({ ...QUIET, lastNewAt: NOW, wishes: { ttlMs: null, skipHours, skipDays } });
    return new Date(time).toISOString();
  };
  assert.equal(at([12, 13], []), '2026-11-21T14:15:00.000Z');
  assert.equal(at([], [6, 0]), '2026-11-23T00:15:00.000Z');
  assert.equal(at([], [0, 1, 2, 3, 4, 5, 6]), '2026-11-21T12:15:00.000Z');
});

/** How long a feed waits after a failure, by default the first one. */
const after = (more: Partial<Parameters<typeof retryAt>[0]>) =>
  retryAt({ now: 0, random: () => 0, failures: 1, retryAfterMs: null, ...more });

test('back-off doubles from an hour to seven days and is spread by a tenth', () => {
  const hours = [1, 2, 3, 8, 9, 16, 1_000].map((failures) => after({ failures }) / HOUR);
  assert.deepEqual(hours, [1, 2, 4, 128, 168, 168, 168]);
  assert.equal(after({ random: () => 0.5 }), 1.05 * HOUR);
});

test('a feed that fails is given up after sixty days at the earliest', () => {
  let waited = 0;
  for (let failures = 1; failures <= MAX_FAILURES; failures++) waited += after({ failures });
  assert.ok(waited >= 60 * DAY && waited < 90 * DAY);
});

test('what the server asks for counts when it is longer, up to seven days', () => {
  assert.equal(after({ retryAfterMs: MINUTE }), HOUR);
  assert.equal(after({ retryAfterMs: 5 * HOUR }), 5 * HOUR);
  assert.equal(after({ retryAfterMs: 365 * DAY }), MAX_BACK_OFF_MS);
});
