// Many domains over thirty days, looked at by the schedule, and at one interval for all with as many looks.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomFrom } from '../../../tests/support/random.ts';
import { intervalOf, nextLookAt, UNKNOWN, withLook } from './schedule.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const USUAL = DAY;
const CONFIRM_AFTER = 6 * HOUR + 1;
/** Each is by itself: more would show the same. */
const DOMAINS = 40_000;
const DAYS = 30;
/** What is compared by figures of one domain takes no more. */
const SAMPLE = 20_000;
/** Mean time between changes, and how many domains have it: most are quiet, few change daily. */
const KINDS = [
  { share: 0.7, meanMs: 200 * DAY },
  { share: 0.25, meanMs: 30 * DAY },
  { share: 0.05, meanMs: 2 * DAY },
] as const;

const usual = { usualMs: USUAL, isWatched: false } as const;

interface Outcome {
  readonly looks: number;
  /** Looks of each hour. */
  readonly load: Uint32Array;
  /** From a change to the look that finds it, on average. */
  readonly delayMs: number;
  /** The longest that a domain was looked at after it was due, and between two looks. */
  readonly longestWaitMs: number;
  readonly longestGapMs: number;
}

/** Where each thing of a domain stands. */
const FIELDS = 8;
const [MEAN, CHANGE, LOOKED, TRACKED, CHANGES] = [0, 1, 2, 3, 4] as const;

interface Look {
  readonly at: number;
  readonly elapsedMs: number;
  readonly isChanged: boolean;
  /** What is known of all domains, and where this one's begins. */
  readonly all: Float64Array;
  readonly place: number;
}

/** `next` gives the time of the next look. All domains are added at once. */
function live(domains: number, next: (domain: number, look: Look) => number): Outcome {
  const random = randomFrom(7);
  const exponential = (meanMs: number) => -Math.log(1 - random()) * meanMs;
  // Looks an hour: a round of all takes four hours.
  const capacity = domains / 4;
  const all = new Float64Array(domains * FIELDS);
  for (let at = 0; at < all.length; at += FIELDS) {
    const place = random();
    const { meanMs } = place < 0.7 ? KINDS[0] : place < 0.95 ? KINDS[1] : KINDS[2];
    all[at + MEAN] = meanMs;
    all[at + CHANGE] = exponential(meanMs);
    all[at + LOOKED] = -1;
  }
  const dueAt = new Float64Array(domains);
  const load = new Uint32Array(DAYS * 24);
  let [looks, delays, found, longestWaitMs, longestGapMs] = [0, 0, 0, 0, 0];
  // Whoever found no room is first in the next hour.
  let begin = 0;
  for (let hour = 0; hour < load.length; hour += 1) {
    for (let n = 0, domain = begin; n < domains; n += 1, domain = domain + 1 === domains ? 0 : domain + 1) {
      const due = dueAt[domain] as number;
      if (due >= (hour + 1) * HOUR) continue;
      if ((load[hour] as number) >= capacity) {
        begin = domain;
        break;
      }
      const place = domain * FIELDS;
      const meanMs = all[place + MEAN] as number;
      const change = all[place + CHANGE] as number;
      const lookedAt = all[place + LOOKED] as number;
      const at = Math.max(due, hour * HOUR);
      const elapsedMs = lookedAt < 0 ? 0 : at - lookedAt;
      const isChanged = elapsedMs > 0 && change <= at;
      let upcoming = change;
      for (; upcoming <= at; upcoming += exponential(meanMs)) {
        // What was so before the first look is no change.
        if (elapsedMs === 0) continue;
        delays += at - upcoming;
        found += 1;
      }
      longestWaitMs = Math.max(longestWaitMs, at - due);
      longestGapMs = Math.max(longestGapMs, elapsedMs);
      load[hour] = (load[hour] as number) + 1;
      looks += 1;
      all[place + CHANGE] = upcoming;
      all[place + LOOKED] = at;
      dueAt[domain] = next(domain, { at, elapsedMs, isChanged, all, place });
    }
  }
  return { looks, load, delayMs: delays / found, longestWaitMs, longestGapMs };
}

/** The busiest hour in means, once all have been looked at. */
function peakOf({ load }: Outcome): number {
  const settled = load.subarray(48);
  return Math.max(...settled) / (settled.reduce((sum, looks) => sum + looks, 0) / settled.length);
}

const hours = (ms: number) => `${(ms / HOUR).toFixed(1)} h`;

describe('the schedule', () => {
  it('spreads many domains, lets none wait, and sees changes sooner than one interval for all does', (t) => {
    const names = Array.from({ length: DOMAINS }, (_, n) => `company-${n}.com`);
    const bySchedule = (domains: number) =>
      live(domains, (domain, { at, elapsedMs, isChanged, all, place }) => {
        const before = { trackedMs: all[place + TRACKED] as number, changes: all[place + CHANGES] as number };
        const history = withLook(before, { elapsedMs, isChanged });
        all[place + TRACKED] = history.trackedMs;
        all[place + CHANGES] = history.changes;
        return isChanged ? at + CONFIRM_AFTER : nextLookAt(names[domain] as string, at, intervalOf(history, usual));
      });
    const every = (domains: number, intervalMs: number) =>
      live(domains, (_, { at, isChanged }) => at + (isChanged ? CONFIRM_AFTER : intervalMs));
    const ours = bySchedule(DOMAINS);
    // The one interval that takes as many looks, with fewer domains.
    const few = (ours.looks * SAMPLE) / DOMAINS;
    let intervalMs = USUAL;
    for (let tries = 0; tries < 3; tries += 1) intervalMs *= every(SAMPLE, intervalMs).looks / few;
    const fixed = every(SAMPLE, intervalMs);
    for (const [name, outcome] of [
      ['schedule', ours],
      [`every ${hours(intervalMs)}`, fixed],
    ] as const)
      t.diagnostic(
        `${name}: ${(outcome.looks / (outcome === ours ? DOMAINS : SAMPLE)).toFixed(1)} looks a domain, busiest hour ${peakOf(outcome).toFixed(2)} of the mean, changes seen after ` +
          `${hours(outcome.delayMs)}, longest overdue ${hours(outcome.longestWaitMs)}, longest gap ${hours(outcome.longestGapMs)}`,
      );
    assert.ok(Math.abs(fixed.looks / few - 1) < 0.03);
    assert.ok(peakOf(ours) < 1.3 && peakOf(fixed) > 2);
    assert.ok(ours.longestGapMs <= 3 * USUAL + HOUR, 'one and a half of the greatest interval');
    assert.ok(ours.longestWaitMs <= 5 * HOUR);
    assert.ok(ours.delayMs < 0.85 * fixed.delayMs, `${ours.delayMs / fixed.delayMs}`);
  });

  it('keeps between a quarter and twice the usual interval', () => {
    assert.equal(intervalOf(UNKNOWN, usual), USUAL);
    const after = (days: number, everyMs: number, isChanged: boolean) => {
      let history = UNKNOWN;
      for (let at = 0; at < days * DAY; at += everyMs) history = withLook(history, { elapsedMs: everyMs, isChanged });
      return intervalOf(history, usual);
    };
    assert.equal(after(400, DAY, false), 2 * USUAL);
    assert.equal(after(60, DAY / 4, true), USUAL / 4);
    assert.equal(intervalOf(UNKNOWN, { ...usual, isWatched: true }), USUAL / 2);
    const often = withLook({ trackedMs: 0, changes: 100 }, { elapsedMs: DAY, isChanged: true });
    assert.equal(intervalOf(often, { ...usual, isWatched: true }), USUAL / 4, 'sooner than for who is watched');
  });

  it('comes round at the same moment, whenever a look was late', () => {
    const first = nextLookAt('a.com', 0, USUAL);
    assert.ok(first >= USUAL / 2 && first < 1.5 * USUAL);
    for (const late of [0, HOUR, 11 * HOUR]) assert.equal(nextLookAt('a.com', first + late, USUAL), first + USUAL);
    assert.equal(nextLookAt('a.com', first + 13 * HOUR, USUAL), first + 2 * USUAL);
  });

  it('forgets: what was often long ago is usual again', () => {
    let history = { trackedMs: 10 * DAY, changes: 30 };
    assert.ok(intervalOf(history, usual) < USUAL / 2);
    for (let n = 0; n < 700; n += 1) history = withLook(history, { elapsedMs: DAY, isChanged: false });
    assert.ok(intervalOf(history, usual) > USUAL);
  });
});
