// Progress of a long job on standard error: a line that is rewritten on a terminal, a new line every few seconds elsewhere.
import type { OutputStream } from './context.ts';

/** Between two lines of output that is not a terminal. */
const LINE_INTERVAL_MS = 5_000;
const TERMINAL_INTERVAL_MS = 200;
const BAR_CHARS = 30;

export interface StatusLine {
  /** Prints a message on a line of its own. */
  print(message: string): void;
  /** Shows the text a last time. */
  stop(): void;
}

/** Shows the current text at intervals until it is stopped; nothing while the text is undefined. */
export function startStatusLine(stream: OutputStream, text: () => string | undefined): StatusLine {
  let isStopped = false;
  let isOpen = false;
  const show = () => {
    const line = text();
    if (line === undefined) return;
    stream.write(stream.isTTY ? `\r\x1b[K${line}` : `${line}\n`);
    isOpen = stream.isTTY ?? false;
  };
  const endLine = () => {
    if (isOpen) stream.write('\n');
    isOpen = false;
  };
  const timer = setInterval(show, stream.isTTY ? TERMINAL_INTERVAL_MS : LINE_INTERVAL_MS);
  timer.unref();
  return {
    print(message) {
      endLine();
      stream.write(`${message}\n`);
    },
    stop() {
      if (isStopped) return;
      isStopped = true;
      clearInterval(timer);
      show();
      endLine();
    },
  };
}

export interface Progress {
  advance(): void;
  stop(): void;
}

/** Progress towards a known total: `340 of 500 domains, 12/s, 13 s left`, with a bar on a terminal. */
export function startProgress(total: number, unit: string, stream: OutputStream): Progress {
  const startedAt = performance.now();
  let done = 0;
  const status = startStatusLine(stream, () => {
    const bar = stream.isTTY ? `${barOf(done, total)} ` : '';
    const rate = rateSince(startedAt, done);
    const left = done === 0 ? '' : `, ${rateText(rate)}/s, ${formatSeconds((total - done) / rate)} left`;
    return `${bar}${done} of ${total} ${unit}${left}`;
  });
  return {
    advance() {
      done += 1;
    },
    stop: status.stop,
  };
}

function barOf(done: number, total: number): string {
  const filled = total === 0 ? BAR_CHARS : Math.round((done / total) * BAR_CHARS);
  return '█'.repeat(filled) + '░'.repeat(BAR_CHARS - filled);
}

export interface Counter {
  set(done: number, total?: number): void;
  stop(): void;
}

/** Progress without a known total: `kev: 1200 records, 300/s`; with the total once it is known. Nothing before `set`. */
export function startCounter(label: string, unit: string, stream: OutputStream): Counter {
  const startedAt = performance.now();
  let current: { readonly done: number; readonly total: number | undefined } | undefined;
  const status = startStatusLine(stream, () => {
    if (!current) return undefined;
    const { done, total } = current;
    const of = total === undefined || total < done ? '' : ` of ${total}`;
    return `${label}: ${done}${of} ${unit}, ${rateText(rateSince(startedAt, done))}/s`;
  });
  return {
    set(done, total) {
      current = { done, total: total ?? current?.total };
    },
    stop: status.stop,
  };
}

/** Adds up the progress of tables: returns the rows of all of them. */
export function rowCounts(): (table: string, rows: number) => number {
  const counts = new Map<string, number>();
  return (table, rows) => {
    counts.set(table, rows);
    return counts.values().reduce((sum, each) => sum + each, 0);
  };
}

/** Per second. */
export const rateSince = (startedAt: number, done: number): number =>
  done / Math.max((performance.now() - startedAt) / 1_000, 0.001);

const rateText = (rate: number) => rate.toFixed(rate < 10 ? 1 : 0);

/** `42 s`, `3 min 20 s`, `2 h 5 min`. */
export function formatSeconds(seconds: number): string {
  const rounded = Math.max(0, Math.round(seconds));
  if (rounded < 60) return `${rounded} s`;
  if (rounded < 3_600) return `${Math.floor(rounded / 60)} min ${rounded % 60} s`;
  return `${Math.floor(rounded / 3_600)} h ${Math.floor((rounded % 3_600) / 60)} min`;
}
