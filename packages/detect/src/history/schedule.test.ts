// Many domains over thirty days, scanned by the schedule, and at one interval for all with as many scans.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomFrom } from '../../../../tests/support/random.ts';
import { intervalOf, nextScanAt, UNKNOWN, withScan } from './schedule.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const [USUAL, CONFIRM_AFTER] = [DAY, 6 * HOUR + 1];
const [DOMAINS, DAYS] = [20_000, 30];
const usual = { usualMs: USUAL, isWatched: false } as const;

type Scan = Readonly<{ at: number; elapsedMs: number; isChanged: boolean }>;

/** All domains are added at once; `next` gives the time of the next scan. */
function simulate(next: (domain: number, scan: Scan) => number) {
  const [random, load] = [randomFrom(7), new Array<number>(DAYS * 24).fill(0)];
  let [delaysMs, changes, longestGapMs] = [0, 0, 0];
  for (let domain = 0; domain < DOMAINS; domain += 1) {
    // Most are quiet, few change daily.
    const share = random();
    const meanMs = (share < 0.7 ? 200 : share < 0.95 ? 30 : 2) * DAY;
    const untilChange = () => -Math.log(1 - random()) * meanMs;
    let change = untilChange();
    for (let at = 0, before = 0; at < DAYS * DAY; ) {
      const isChanged = change <= at;
      for (; change <= at; change += untilChange()) {
        delaysMs += at - change;
        changes += 1;
      }
      const elapsedMs = at - before;
      longestGapMs = Math.max(longestGapMs, elapsedMs);
      const hour = Math.floor(at / HOUR);
      load[hour] = (load[hour] ?? 0) + 1;
      before = at;
      at = next(domain, { at, elapsedMs, isChanged });
    }
  }
  const settled = load.slice(48);
  const sum = (hours: readonly number[]) => hours.reduce((total, scans) => total + scans, 0);
  const peak = Math.max(...settled) / (sum(settled) / settled.length);
  // Where a quarter of the domains can be scanned in an hour.
  let waitHours = 0;
  const waits = load.map((scans) => (waitHours = Math.max(0, waitHours + (4 * scans) / DOMAINS - 1)));
  const longestWaitHours = 1 + Math.max(...waits);
  return { scans: sum(load), peak, delayMs: delaysMs / changes, longestGapMs, longestWaitHours };
}

describe('the schedule', () => {
  it('spreads many domains, lets none wait, and finds changes sooner than one interval for all does', (t) => {
    const histories = Array.from({ length: DOMAINS }, () => UNKNOWN);
    const bySchedule = simulate((domain, { at, elapsedMs, isChanged }) => {
      const history = withScan(histories[domain] ?? UNKNOWN, { elapsedMs, isChanged });
      histories[domain] = history;
      return isChanged ? at + CONFIRM_AFTER : nextScanAt(`company-${domain}.com`, at, intervalOf(history, usual));
    });
    const every = (intervalMs: number) =>
      simulate((_, { at, isChanged }) => at + (isChanged ? CONFIRM_AFTER : intervalMs));
    // The one interval that takes as many scans.
    let intervalMs = USUAL;
    for (let tries = 0; tries < 3; tries += 1) intervalMs *= every(intervalMs).scans / bySchedule.scans;
    const fixed = every(intervalMs);
    t.diagnostic(JSON.stringify({ bySchedule, fixed }));
    assert.ok(Math.abs(fixed.scans / bySchedule.scans - 1) < 0.03);
    assert.ok(bySchedule.peak < 1.3 && fixed.peak > 2);
    assert.ok(bySchedule.longestGapMs <= 3 * USUAL, 'one and a half of the greatest interval');
    assert.ok(bySchedule.longestWaitHours <= 5);
    assert.ok(bySchedule.delayMs < 0.85 * fixed.delayMs, `${bySchedule.delayMs / fixed.delayMs}`);
  });
  it('keeps between a quarter and twice the usual interval', () => {
    assert.equal(intervalOf(UNKNOWN, usual), USUAL);
    const after = (days: number, everyMs: number, isChanged: boolean) => {
      let history = UNKNOWN;
      for (let at = 0; at < days * DAY; at += everyMs) history = withScan(history, { elapsedMs: everyMs, isChanged });
      return intervalOf(history, usual);
    };
    assert.deepEqual([after(400, DAY, false), after(60, DAY / 4, true)], [2 * USUAL, USUAL / 4]);
    assert.equal(intervalOf(UNKNOWN, { ...usual, isWatched: true }), USUAL / 2);
    const often = withScan({ trackedMs: 0, changes: 100 }, { elapsedMs: DAY, isChanged: true });
    assert.equal(intervalOf(often, { ...usual, isWatched: true }), USUAL / 4, 'sooner than a watched domain');
  });
  it('keeps its phase if a scan was late', () => {
    const first = nextScanAt('a.com', 0, USUAL);
    assert.ok(first >= USUAL / 2 && first < 1.5 * USUAL);
    for (const late of [0, HOUR, 11 * HOUR]) assert.equal(nextScanAt('a.com', first + late, USUAL), first + USUAL);
    assert.equal(nextScanAt('a.com', first + 13 * HOUR, USUAL), first + 2 * USUAL);
  });
  it('forgets: what was often long ago is usual again', () => {
    let history = { trackedMs: 10 * DAY, changes: 30 };
    assert.ok(intervalOf(history, usual) < USUAL / 2);
    for (let n = 0; n < 700; n += 1) history = withScan(history, { elapsedMs: DAY, isChanged: false });
    assert.ok(intervalOf(history, usual) > USUAL);
  });
});
