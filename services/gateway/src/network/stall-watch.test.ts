import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type StallReport, StallWatch } from './stall-watch.ts';

const TICK_MS = 250;
const QUIET: StallReport = { isSilent: false, jobs: [] };

/** Ticks until something is reported, with a pulse before each; at most `most`. */
function ticksUntil(watch: StallWatch, { isPulsing, most = 1_000 }: { isPulsing: boolean; most?: number }) {
  for (let ticks = 1; ticks <= most; ticks += 1) {
    if (isPulsing) watch.heard();
    const { isSilent, jobs } = watch.tick();
    if (isSilent || jobs.length > 0) return { ticks, isSilent, jobs };
  }
  return undefined;
}

/** Tokens at even distances. */
function write(watch: StallWatch, { count, gapMs }: { count: number; gapMs: number }): void {
  for (let i = 0; i < count; i += 1) watch.tokens(1, 1, { nowMs: i * gapMs, isHeld: false });
}

describe('a worker of which nothing is heard', () => {
  it('is silent after four whole ticks with a job, and after twenty without', () => {
    const watch = new StallWatch({ tickMs: TICK_MS });
    watch.started(1, 100);
    watch.heard();
    assert.deepEqual(ticksUntil(watch, { isPulsing: false }), { ticks: 5, isSilent: true, jobs: [] });
    const idle = new StallWatch({ tickMs: TICK_MS });
    assert.equal(ticksUntil(idle, { isPulsing: false })?.ticks, 21);
  });

  it('is not blamed for having been quiet while it had nothing to do', () => {
    const watch = new StallWatch({ tickMs: TICK_MS });
    for (let i = 0; i < 15; i += 1) assert.deepEqual(watch.tick(), QUIET);
    watch.started(1, 100);
    for (let i = 0; i < 4; i += 1) assert.deepEqual(watch.tick(), QUIET);
  });

  it('is not silent for as long as something comes', () => {
    const watch = new StallWatch({ tickMs: TICK_MS });
    watch.started(1, 1e9);
    watch.phase(1, 'reading');
    assert.equal(ticksUntil(watch, { isPulsing: true, most: 500 }), undefined);
  });
});

describe('a job of a worker that lives', () => {
  const deadlines: readonly (readonly [string, (watch: StallWatch) => void, number])[] = [
    ['waits for ten seconds at most', () => {}, 10_000],
    ['reads for four times what was expected and two seconds', (watch) => watch.phase(1, 'reading'), 2_400],
    ['writes with a second between tokens at most', (watch) => write(watch, { count: 50, gapMs: 10 }), 1_000],
    ['or twenty times its mean gap', (watch) => write(watch, { count: 50, gapMs: 100 }), 2_000],
    ['also after its first token', (watch) => write(watch, { count: 1, gapMs: 0 }), 1_000],
  ];
  for (const [what, prepare, deadlineMs] of deadlines)
    it(what, () => {
      const watch = new StallWatch({ tickMs: TICK_MS });
      watch.started(1, 100);
      prepare(watch);
      const { ticks, jobs } = ticksUntil(watch, { isPulsing: true }) ?? {};
      assert.deepEqual([ticks, jobs], [Math.ceil(deadlineMs / TICK_MS) + 1, [1]]);
    });

  it('does not begin to read again because the worker says so', () => {
    const watch = new StallWatch({ tickMs: TICK_MS });
    watch.started(1, 1e9);
    write(watch, { count: 2, gapMs: 1 });
    for (let i = 0; i < 4; i += 1) {
      watch.heard();
      watch.phase(1, 'reading');
      watch.phase(1, 'waiting');
      assert.deepEqual(watch.tick(), QUIET);
    }
    assert.deepEqual(ticksUntil(watch, { isPulsing: true })?.ticks, 1);
  });

  it('may take any time for which it has no credit, which is not counted as a gap either', () => {
    const watch = new StallWatch({ tickMs: TICK_MS });
    watch.started(1, 100);
    watch.tokens(1, 256, { nowMs: 0, isHeld: true });
    assert.equal(ticksUntil(watch, { isPulsing: true, most: 400 }), undefined);
    watch.credited(1, 100_000);
    watch.tokens(1, 1, { nowMs: 100_010, isHeld: false });
    assert.equal(ticksUntil(watch, { isPulsing: true })?.ticks, 5);
  });

  it('is watched no more once it has ended', () => {
    const watch = new StallWatch({ tickMs: TICK_MS });
    watch.started(1, 100);
    watch.ended(1);
    watch.phase(1, 'reading');
    watch.tokens(1, 1, { nowMs: 0, isHeld: false });
    watch.credited(1, 0);
    assert.equal(ticksUntil(watch, { isPulsing: true, most: 100 }), undefined);
  });
});
