// Who stands still: counted in ticks of our own, so that when we are late ourselves it is nobody else's fault. Pure: it reads no clock.

/** Silent ticks with jobs under way, and without: a worker pulses every tick of ours while it works for us, else every fourth. */
const MOST_SILENT_TICKS = 4;
const MOST_IDLE_TICKS = 20;
/** A worker that has no place for a job for so long has none. */
const MOST_WAITING_MS = 10_000;
/** Between tokens: at least so long, and so many times the mean gap. */
const LEAST_WRITING_MS = 1_000;
const MOST_GAPS = 20;
/** Before the first token: so many times what was expected, and so much more. */
const READING_FACTOR = 4;
const READING_SPARE_MS = 2_000;

export type JobPhase = 'waiting' | 'reading' | 'writing';

interface WatchedJob {
  readonly expectedMs: number;
  phase: JobPhase;
  /** Whole ticks since something became of it. */
  ticks: number;
  /** It has no credit left: it waits for us. */
  isHeld: boolean;
  lastTokenAtMs: number | undefined;
  writingMs: number;
  gaps: number;
}

export interface StallReport {
  /** Nothing at all was heard of the worker for too long. */
  readonly isSilent: boolean;
  /** Jobs that stand still although the worker is alive. */
  readonly jobs: readonly number[];
}

export class StallWatch {
  readonly #tickMs: number;
  readonly #jobs = new Map<number, WatchedJob>();
  #silentTicks = -1;

  constructor({ tickMs }: { readonly tickMs: number }) {
    this.#tickMs = tickMs;
  }

  /** Something came, whatever it was. */
  heard(): void {
    this.#silentTicks = -1;
  }

  /** A job was sent; its first token is expected so long after it has a place. */
  started(id: number, expectedMs: number): void {
    // A worker that had nothing to do was right to be quiet.
    if (this.#jobs.size === 0) this.#silentTicks = -1;
    this.#jobs.set(id, {
      ...{ expectedMs, phase: 'waiting', ticks: -1, isHeld: false },
      ...{ lastTokenAtMs: undefined, writingMs: 0, gaps: 0 },
    });
  }

  /** What the worker says of a job; one that writes does not go back. */
  phase(id: number, phase: JobPhase): void {
    const job = this.#jobs.get(id);
    if (!job || job.phase === phase || job.phase === 'writing' || phase === 'waiting') return;
    job.phase = phase;
    job.ticks = -1;
  }

  /** Tokens came. `isHeld`: they were the last that it may send for now. */
  tokens(id: number, count: number, { nowMs, isHeld }: { readonly nowMs: number; readonly isHeld: boolean }): void {
    const job = this.#jobs.get(id);
    if (!job) return;
    if (job.lastTokenAtMs !== undefined && !job.isHeld) {
      job.writingMs += nowMs - job.lastTokenAtMs;
      job.gaps += count;
    }
    Object.assign(job, { phase: 'writing', ticks: -1, isHeld, lastTokenAtMs: nowMs });
  }

  /** It may send again: its time runs from now on. */
  credited(id: number, nowMs: number): void {
    const job = this.#jobs.get(id);
    if (job?.isHeld) Object.assign(job, { ticks: -1, isHeld: false, lastTokenAtMs: nowMs });
  }

  ended(id: number): void {
    this.#jobs.delete(id);
  }

  /** To be called every `tickMs`. */
  tick(): StallReport {
    this.#silentTicks += 1;
    const isSilent = this.#silentTicks >= (this.#jobs.size > 0 ? MOST_SILENT_TICKS : MOST_IDLE_TICKS);
    const stalled: number[] = [];
    for (const [id, job] of this.#jobs) {
      job.ticks += 1;
      if (!job.isHeld && job.ticks * this.#tickMs >= deadlineMs(job)) stalled.push(id);
    }
    return { isSilent, jobs: stalled };
  }
}

function deadlineMs({ phase, expectedMs, writingMs, gaps }: WatchedJob): number {
  switch (phase) {
    case 'waiting':
      return MOST_WAITING_MS;
    case 'reading':
      return READING_FACTOR * expectedMs + READING_SPARE_MS;
    case 'writing':
      return Math.max(LEAST_WRITING_MS, gaps === 0 ? 0 : (MOST_GAPS * writingMs) / gaps);
    default:
      throw new Error(phase satisfies never);
  }
}
