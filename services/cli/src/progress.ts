// Progress of a long job on standard error: a bar on a terminal, a plain line every few seconds otherwise.
import { SingleBar } from 'cli-progress';
import type { OutputStream } from './context.ts';

export interface Progress {
  advance(): void;
  stop(): void;
}

/** Seconds between two plain lines: often enough to see life, rare enough for a log. */
const plainIntervalMs = 5_000;

/**
 * Shows `done of total`, the rate since the start and the remaining time. Standard output stays free for results.
 */
export function startProgress(total: number, unit: string, stream: OutputStream): Progress {
  return stream.isTTY ? barProgress(total, unit, stream) : plainProgress(total, unit, stream);
}

function barProgress(total: number, unit: string, stream: OutputStream): Progress {
  const bar = new SingleBar({
    stream,
    format: `{bar} {percentage} % | {value} of {total} ${unit} | {rate}/s | {remaining} left`,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    hideCursor: true,
    barsize: 30,
  });
  const meter = startMeter(total);
  bar.start(total, 0, { rate: '–', remaining: '–' });
  return {
    advance: () => bar.increment(1, meter.advance()),
    stop: () => bar.stop(),
  };
}

function plainProgress(total: number, unit: string, stream: OutputStream): Progress {
  const meter = startMeter(total);
  let done = 0;
  let last = { rate: '–', remaining: '–' };
  const print = () => stream.write(`${done} of ${total} ${unit}, ${last.rate}/s, ${last.remaining} left\n`);
  const timer = setInterval(print, plainIntervalMs);
  timer.unref();
  return {
    advance() {
      done += 1;
      last = meter.advance();
    },
    stop() {
      clearInterval(timer);
      print();
    },
  };
}

/** Progress of what has no known end: `kev: 1,200 records` now and then, with the total where one is told. */
export interface Tally {
  set(done: number, total?: number): void;
  stop(): void;
}

export function startTally(what: string, unit: string, stream: OutputStream): Tally {
  let told = { done: 0, total: undefined as number | undefined };
  const startedAt = performance.now();
  const line = () => {
    const { done, total } = told;
    const rate = done / Math.max((performance.now() - startedAt) / 1_000, 0.001);
    const of = total === undefined || total < done ? '' : ` of ${total}`;
    return `${what}: ${done}${of} ${unit}, ${rate.toFixed(rate < 10 ? 1 : 0)}/s`;
  };
  const show = () => stream.write(stream.isTTY ? `\r\x1b[K${line()}` : `${line()}\n`);
  const timer = setInterval(show, stream.isTTY ? 200 : plainIntervalMs);
  timer.unref();
  let isOver = false;
  return {
    set(done, total) {
      told = { done, total: total ?? told.total };
    },
    stop() {
      if (isOver) return;
      isOver = true;
      clearInterval(timer);
      stream.write(stream.isTTY ? `\r\x1b[K${line()}\n` : `${line()}\n`);
    },
  };
}

function startMeter(total: number) {
  const startedAt = performance.now();
  let done = 0;
  return {
    advance() {
      done += 1;
      const seconds = (performance.now() - startedAt) / 1_000;
      const rate = done / Math.max(seconds, 0.001);
      return { rate: rate.toFixed(rate < 10 ? 1 : 0), remaining: formatSeconds((total - done) / rate) };
    },
  };
}

/** `42 s`, `3 min 20 s`, `2 h 5 min`. */
export function formatSeconds(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`;
}
