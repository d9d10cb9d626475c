// Stalls by simulation: who stands still is found in time, and nobody is blamed for our own lag or for credit that we did not give.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StallWatch } from './stall-watch.ts';

const TICK_MS = 250;

/** What the worker does between two ticks. */
type Worker = (scene: {
  readonly watch: StallWatch;
  readonly nowMs: number;
  readonly tick: number;
  /** All it should: a pulse, and ten tokens of each of these jobs. */
  readonly work: (...jobs: readonly number[]) => void;
}) => void;

interface Simulation {
  readonly worker: Worker;
  /** Lateness of a tick. */
  readonly lagMs?: (tick: number) => number;
}

/** When, after which tick, the first stall is told, and whose, of a worker with jobs 1 and 2; undefined: none in five minutes. */
function firstStall({ worker, lagMs = () => 0 }: Simulation) {
  const watch = new StallWatch({ tickMs: TICK_MS });
  for (const id of [1, 2]) watch.started(id, { readTokens: 100, expectedMs: 500, gapMs: 20 });
  for (let tick = 1, nowMs = 0; nowMs < 300_000; tick += 1) {
    nowMs += TICK_MS + lagMs(tick);
    const work = (...jobs: readonly number[]) => {
      watch.heard();
      for (const id of jobs) watch.tokens(id, 10, { nowMs, isHeld: false });
    };
    worker({ watch, nowMs, tick, work });
    const { isSilent, jobs } = watch.tick(nowMs);
    if (isSilent) return { atMs: nowMs, stalled: 'worker' };
    if (jobs.length > 0) return { atMs: nowMs, stalled: jobs };
  }
  return undefined;
}

// What was heard just before a tick is counted from that tick on: silence of one second is told after 1 to 1.25 s.
const table: readonly (readonly [string, Simulation, ReturnType<typeof firstStall>])[] = [
  ['a worker that never says anything', { worker: () => {} }, { atMs: 1_250, stalled: 'worker' }],
  [
    'a worker that falls silent, four ticks later',
    { worker: ({ nowMs, work }) => nowMs <= 5_000 && work(1, 2) },
    { atMs: 6_000, stalled: 'worker' },
  ],
  ['nobody who works well', { worker: ({ work }) => work(1, 2) }, undefined],
  [
    'nobody who speaks every fourth tick',
    { worker: ({ nowMs, work }) => nowMs % 1_000 === 0 && work(1, 2) },
    undefined,
  ],
  [
    'the one job that gets no more tokens, a second later',
    { worker: ({ nowMs, work }) => (nowMs <= 5_000 ? work(1, 2) : work(1)) },
    { atMs: 6_000, stalled: [2] },
  ],
  [
    'a slow job later, after twenty times its mean gap, of which four times the expected one are believed',
    {
      worker: ({ watch, nowMs, work }) => {
        work(1);
        if (nowMs <= 15_000 && nowMs % 750 === 0) watch.tokens(2, 1, { nowMs, isHeld: false });
      },
    },
    { atMs: 16_750, stalled: [2] },
  ],
  [
    'a job in line after ten seconds',
    {
      worker: ({ watch, work }) => {
        work(1);
        watch.phase(2, 'waiting');
      },
    },
    { atMs: 10_250, stalled: [2] },
  ],
  [
    'a job of which nothing was said, after four times what was expected and two seconds',
    { worker: ({ work }) => work(1) },
    { atMs: 4_250, stalled: [2] },
  ],
  [
    'a job that is read, after four times what was expected and two seconds',
    {
      worker: ({ watch, work }) => {
        work(1);
        watch.phase(2, 'reading');
      },
    },
    { atMs: 4_250, stalled: [2] },
  ],
  [
    'a job whose worker goes back and forth between phases, all the same',
    {
      worker: ({ watch, nowMs, work }) => {
        work(1);
        watch.phase(2, nowMs % 500 === 0 ? 'waiting' : 'reading');
      },
    },
    { atMs: 4_250, stalled: [2] },
  ],
  [
    'nobody who has no credit, however long',
    {
      worker: ({ watch, nowMs, work }) => {
        work();
        if (nowMs <= 2_000) for (const id of [1, 2]) watch.tokens(id, 10, { nowMs, isHeld: nowMs === 2_000 });
      },
    },
    undefined,
  ],
  [
    'a job that stands still once it has credit again, from then on',
    {
      worker: ({ watch, nowMs, work }) => {
        work(1);
        if (nowMs <= 2_000) watch.tokens(2, 10, { nowMs, isHeld: nowMs === 2_000 });
        if (nowMs === 20_000) watch.credited(2, nowMs);
      },
    },
    { atMs: 21_000, stalled: [2] },
  ],
  [
    'a worker that dies while its jobs have no credit',
    {
      worker: ({ watch, nowMs, work }) => {
        if (nowMs <= 3_000) work();
        for (const id of [1, 2]) watch.tokens(id, 10, { nowMs, isHeld: true });
      },
    },
    { atMs: 4_000, stalled: 'worker' },
  ],
  [
    'nobody whose word lies unread while we halt, and comes just in time without that',
    {
      lagMs: (tick) => (tick % 8 === 0 ? 30_000 : 0),
      worker: ({ tick, work }) => (tick % 8 === 1 || tick % 8 === 4) && work(1, 2),
    },
    undefined,
  ],
  [
    'nobody because we are late time after time, as long as something comes between',
    { lagMs: () => 2_000, worker: ({ work }) => work(1, 2) },
    undefined,
  ],
  [
    'a dead worker even while every tick is late, after twice as many',
    { lagMs: () => 250, worker: ({ nowMs, work }) => nowMs <= 2_000 && work(1, 2) },
    { atMs: 2_000 + 9 * 500, stalled: 'worker' },
  ],
];

describe('a watch finds', () => {
  for (const [name, simulation, expected] of table) it(name, () => assert.deepEqual(firstStall(simulation), expected));

  it('an idle worker after five seconds of silence, and no job that is over or was never there', () => {
    const watch = new StallWatch({ tickMs: TICK_MS });
    watch.started(1, { readTokens: 100, expectedMs: 500 });
    watch.ended(1);
    watch.tokens(1, 1, { nowMs: 0, isHeld: false });
    watch.phase(9, 'writing');
    watch.credited(9, 0);
    const reports = Array.from({ length: 21 }, (_, i) => watch.tick((i + 1) * TICK_MS));
    assert.deepEqual(
      reports,
      reports.map((_, i) => ({ isSilent: i === 20, jobs: [] })),
    );
  });

  it('nobody for a silence that began when there was nothing to do', () => {
    const watch = new StallWatch({ tickMs: TICK_MS });
    for (let tick = 1; tick <= 10; tick += 1) watch.tick(tick * TICK_MS);
    watch.started(1, { readTokens: 100, expectedMs: 500 });
    assert.equal(watch.tick(11 * TICK_MS).isSilent, false);
  });

  for (const [gapMs, expectedMs] of [
    [undefined, 5_000],
    [20, 1_000],
    [400, 8_000],
    // What a worker may claim: a token in a quarter of an hour.
    [1_000_000, 10_000],
  ] as const)
    it(`a job that stops after its first token ${expectedMs} ms later, where a gap of ${gapMs} ms is expected`, () => {
      const watch = new StallWatch({ tickMs: TICK_MS });
      watch.started(1, { readTokens: 100, expectedMs: 500, gapMs });
      watch.tokens(1, 1, { nowMs: 0, isHeld: false });
      watch.tick(0);
      let nowMs = 0;
      do {
        nowMs += TICK_MS;
        watch.heard();
      } while (watch.tick(nowMs).jobs.length === 0);
      assert.equal(nowMs, expectedMs);
    });

  for (const [readTokens, expectedMs] of [
    [0, 10_000],
    [1_000, 110_000],
  ] as const)
    it(`a job that reads ${readTokens} tokens after ${expectedMs} ms, whatever was expected`, () => {
      const watch = new StallWatch({ tickMs: TICK_MS });
      watch.started(1, { readTokens, expectedMs: 1e9 });
      watch.phase(1, 'reading');
      watch.tick(0);
      let nowMs = 0;
      do {
        nowMs += TICK_MS;
        watch.heard();
      } while (watch.tick(nowMs).jobs.length === 0);
      assert.equal(nowMs, expectedMs);
    });
});
