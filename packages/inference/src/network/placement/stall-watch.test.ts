// Simulated stalls: a stalled worker is detected in time, and no worker is blamed for our own lag or for credit that we did not grant.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { afterAsked, afterFailure, afterRefusal, afterSuccess, type Breaker, breakerState, CLOSED } from './breaker.ts';
import { StallWatch } from './stall-watch.ts';

const TICK_MS = 250;

/** What the worker does between two ticks. */
type Worker = (scene: {
  readonly watch: StallWatch;
  readonly nowMs: number;
  readonly tick: number;
  /** Normal operation: a heartbeat, and ten tokens of each of these jobs. */
  readonly work: (...jobs: readonly number[]) => void;
}) => void;

/** When the first stall is reported, and of which job, for a worker with jobs 1 and 2 within five minutes. */
function firstStall(worker: Worker, lagMs: (tick: number) => number, loadMs = 0) {
  const watch = new StallWatch({ tickMs: TICK_MS });
  for (const id of [1, 2]) watch.started(id, { readTokens: 100, expectedMs: 500, gapMs: 20, loadMs });
  for (let tick = 1, nowMs = 0; nowMs < 300_000; tick += 1) {
    nowMs += TICK_MS + lagMs(tick);
    const work = (...jobs: readonly number[]) => {
      watch.received();
      for (const id of jobs) watch.tokens(id, 10, { nowMs, isHeld: false });
    };
    worker({ watch, nowMs, tick, work });
    const { isSilent, jobs } = watch.tick(nowMs);
    if (isSilent || jobs.length > 0) return `${nowMs} ${isSilent ? 'worker' : jobs}`;
  }
  return 'none';
}

/** The first job continues; the second one is in the phase. */
const inPhase =
  (phase: (nowMs: number) => 'waiting' | 'reading'): Worker =>
  ({ watch, nowMs, work }) => {
    work(1);
    watch.phase(2, phase(nowMs));
  };

describe('the stall watch detects', () => {
  // Frames received just before a tick count from that tick on: silence of one second is reported after 1 to 1.25 s.
  /** The time and the job of the report (no job: the worker); the lag of each tick. */
  const finds = (name: string, expected: string, worker: Worker, lagMs = (_tick: number) => 0) =>
    it(name, () => assert.equal(firstStall(worker, lagMs), expected));
  finds('a worker that never sends anything', '1250 worker', () => {});
  finds('a worker that falls silent, later', '6000 worker', ({ nowMs, work }) => nowMs <= 5_000 && work(1, 2));
  finds('no worker that works', 'none', ({ work }) => work(1, 2));
  finds('no worker that sends every fourth tick', 'none', ({ nowMs, work }) => nowMs % 1_000 === 0 && work(1, 2));
  finds('the job that gets no more tokens', '6000 2', ({ nowMs, work }) => (nowMs <= 5_000 ? work(1, 2) : work(1)));
  // The mean gap is capped at four times the expected one.
  finds('a slow job later, after twenty times its mean gap', '16750 2', ({ watch, nowMs, work }) => {
    work(1);
    if (nowMs <= 15_000 && nowMs % 750 === 0) watch.tokens(2, 1, { nowMs, isHeld: false });
  });
  const [waiting, reading] = [inPhase(() => 'waiting'), inPhase(() => 'reading')];
  finds('a job in the queue after ten seconds', '10250 2', waiting);
  it('a job for which the model is loaded after four times the expected time more, at most a minute', () => {
    const stalls = [2_000, 100_000].map((loadMs) => firstStall(waiting, () => 0, loadMs));
    assert.deepEqual(stalls, ['18250 2', '70250 2']);
  });
  finds('a job without any report after four times the expected and two seconds', '4250 2', ({ work }) => work(1));
  finds('a job that is read after the same time', '4250 2', reading);
  const alternating = inPhase((nowMs) => (nowMs % 500 === 0 ? 'waiting' : 'reading'));
  finds('a job whose worker alternates between phases, all the same', '4250 2', alternating);
  finds('no job without credit, however long', 'none', ({ watch, nowMs, work }) => {
    work();
    if (nowMs <= 2_000) for (const id of [1, 2]) watch.tokens(id, 10, { nowMs, isHeld: nowMs === 2_000 });
  });
  finds('a job that stalls once it has credit again, from then on', '21000 2', ({ watch, nowMs, work }) => {
    work(1);
    if (nowMs <= 2_000) watch.tokens(2, 10, { nowMs, isHeld: nowMs === 2_000 });
    if (nowMs === 20_000) watch.credited(2, nowMs);
  });
  finds('a worker that dies while its jobs have no credit', '4000 worker', ({ watch, nowMs, work }) => {
    if (nowMs <= 3_000) work();
    for (const id of [1, 2]) watch.tokens(id, 10, { nowMs, isHeld: true });
  });
  const justInTime: Worker = ({ tick, work }) => (tick % 8 === 1 || tick % 8 === 4) && work(1, 2);
  const halting = (tick: number) => (tick % 8 === 0 ? 30_000 : 0);
  finds('no worker whose message is unread while we halt, and just in time without that', 'none', justInTime, halting);
  const late = (ms: number) => () => ms;
  finds('no worker because we are late again and again', 'none', ({ work }) => work(1, 2), late(2_000));
  const dies: Worker = ({ nowMs, work }) => nowMs <= 2_000 && work(1, 2);
  finds('a dead worker even while every tick is late, after twice as many', '6500 worker', dies, late(250));
  it('an idle worker after five seconds of silence, and no job that is finished or unknown', () => {
    const watch = new StallWatch({ tickMs: TICK_MS });
    watch.started(1, { readTokens: 100, expectedMs: 500 });
    watch.ended(1);
    watch.tokens(1, 1, { nowMs: 0, isHeld: false });
    watch.phase(9, 'writing');
    watch.credited(9, 0);
    const reports = Array.from({ length: 21 }, (_, i) => watch.tick((i + 1) * TICK_MS));
    const expected = reports.map((_, i) => ({ isSilent: i === 20, jobs: [] }));
    assert.deepEqual(reports, expected);
  });
  it('no worker whose silence began when it had no jobs', () => {
    const watch = new StallWatch({ tickMs: TICK_MS });
    for (let tick = 1; tick <= 10; tick += 1) watch.tick(tick * TICK_MS);
    watch.started(1, { readTokens: 100, expectedMs: 500 });
    assert.equal(watch.tick(11 * TICK_MS).isSilent, false);
  });

  type Job = Parameters<StallWatch['started']>[1];
  /** When job 1 is reported, for a worker that sends only heartbeats. */
  const stallOf = (job: Job, begin: (watch: StallWatch) => void) => {
    const watch = new StallWatch({ tickMs: TICK_MS });
    watch.started(1, job);
    begin(watch);
    watch.tick(0);
    for (let nowMs = TICK_MS; ; nowMs += TICK_MS) {
      watch.received();
      if (watch.tick(nowMs).jobs.length > 0) return nowMs;
    }
  };

  it('a job that stops after its first token, later if longer gaps are expected, up to ten seconds', () => {
    for (const [gap, stalledMs] of [
      [{}, 5_000],
      [{ gapMs: 20 }, 1_000],
      [{ gapMs: 400 }, 8_000],
      // A possible claim: one token in a quarter of an hour.
      [{ gapMs: 1_000_000 }, 10_000],
    ] as const) {
      const job = { readTokens: 100, expectedMs: 500, ...gap };
      const found = stallOf(job, (watch) => watch.tokens(1, 1, { nowMs: 0, isHeld: false }));
      assert.equal(found, stalledMs, JSON.stringify(gap));
    }
  });
  it('a job that has been lost before, later: a worker that is slow must not lose it again and again', () => {
    const stalledMs = (slowness: number) => {
      const job = { readTokens: 100, expectedMs: 50, gapMs: 3, slowness };
      const phases = [(watch: StallWatch) => watch.phase(1, 'reading')];
      phases.push((watch) => watch.tokens(1, 1, { nowMs: 0, isHeld: false }));
      return phases.map((begin) => stallOf(job, begin));
    };
    const expected = [
      [2_250, 1_000],
      [4_500, 2_000],
      [9_000, 4_000],
      [20_000, 10_000],
    ];
    assert.deepEqual([1, 2, 4, 64].map(stalledMs), expected);
  });
  it('a job that reads its prompt, by the number of tokens, whatever was expected', () => {
    const stalledMs = (readTokens: number) =>
      stallOf({ readTokens, expectedMs: 1e9 }, (watch) => watch.phase(1, 'reading'));
    assert.deepEqual([0, 1_000].map(stalledMs), [10_000, 110_000]);
  });
});

const middle = () => 0.5;

it('breaker doubles the backoff after each consecutive failure, up to a minute and a half', () => {
  let breaker: Breaker = CLOSED;
  const pauses = Array.from({ length: 12 }, () => {
    const nowMs = breaker.openUntilMs;
    breaker = afterFailure(breaker, nowMs, middle);
    return breaker.openUntilMs - nowMs;
  });
  assert.deepEqual(pauses.slice(0, 5), [500, 1_000, 2_000, 4_000, 8_000]);
  assert.equal(pauses.at(-1), 60_000);
  // With jitter, so that gateways do not retry at the same time.
  assert.equal(afterFailure(CLOSED, 0, () => 0).openUntilMs, 250);
  for (let failures = 0; failures < 2_000; failures += 50)
    assert.ok(afterFailure({ ...CLOSED, failures }, 0, () => 0.999_999).openUntilMs <= 90_000);
});
it('breaker counts twenty jobs lost together as one failure', () => {
  let breaker = CLOSED;
  for (let i = 0; i < 20; i++) breaker = afterFailure(breaker, 1_000 + i, middle);
  assert.deepEqual([breaker.failures, breaker.openUntilMs], [1, 1_500]);
  // A backoff for another reason does not hide failures.
  assert.equal(afterFailure(afterRefusal(CLOSED, 0, 250), 100, middle).failures, 1);
});
it('breaker allows one probe job after the backoff, and no second one before its outcome', () => {
  const failed = afterFailure(CLOSED, 0, middle);
  assert.deepEqual([breakerState(failed, 499), breakerState(failed, 500)], ['open', 'half-open']);
  const probing = afterAsked(failed, 500);
  assert.equal(breakerState(probing, 501), 'open');
  assert.equal(breakerState(afterFailure(probing, 600, middle), 1_599), 'open');
  // A worker without failures has no probe.
  assert.equal(afterAsked(CLOSED, 5), CLOSED);
  assert.equal(breakerState(CLOSED, 600), 'closed');
  // A probe whose client disconnected is not the last one.
  assert.equal(breakerState(probing, 30_500), 'half-open');
});
it('breaker does not count a refusal as a failure', () => {
  const paused = afterRefusal(CLOSED, 1_000, 250);
  // Its other jobs may succeed while it is leaving.
  assert.equal(afterSuccess(paused), paused);
  assert.deepEqual([breakerState(paused, 1_249), breakerState(paused, 1_250)], ['open', 'closed']);
  const failed = afterFailure(CLOSED, 1_000, middle);
  assert.equal(afterRefusal(failed, 1_000, 250).openUntilMs, failed.openUntilMs);
  assert.equal(afterSuccess(failed), CLOSED);
});
