// Detects that a worker, or one of its jobs, has stalled. Time is counted in ticks of our own timer. A late tick is not
// counted against the worker, because its frames may still be unread on our side. Pure: it reads no clock.
import type { FrameOf } from '../protocol/frame.ts';

/**
 * Maximum number of silent ticks, with running jobs and without: a worker sends a heartbeat every tick while it works
 * for us, otherwise every fourth tick.
 */
const MAX_SILENT_TICKS = 4;
const MAX_IDLE_TICKS = 20;
/** A tick is late if it comes more than this many tick intervals after the previous one. */
const LATE_SHARE = 1.5;

/** Maximum time that a job may wait for a slot, as reported by the worker. */
const MAX_WAITING_MS = 10_000;
/** Maximum time in addition, while the worker loads the model. */
const MAX_LOADING_MS = 60_000;
/**
 * Deadline before the first token, and for jobs that the worker has not reported: a multiple of the expected time, plus
 * a constant.
 */
const READING_FACTOR = 4;
const READING_SPARE_MS = 2_000;
/**
 * The expected time is based on the worker's claims, so it is capped: a constant, plus a time for each token to read
 * (10 tokens per second).
 */
const MAX_READING_MS = 10_000;
const MAX_READING_MS_PER_TOKEN = 100;
/** Deadline between tokens: at least the minimum, a multiple of the mean gap, and at most the maximum. */
const MIN_WRITING_MS = 1_000;
const MAX_GAPS = 20;
const MAX_WRITING_MS = 10_000;
/** With fewer gaps the mean is not significant. */
const ENOUGH_GAPS = 4;
/**
 * The measured mean is capped at this multiple of the expected gap. Without a cap, a worker that becomes ever slower
 * would never be detected.
 */
const MAX_STRETCH = 4;
/** Assumed gap if it is unknown. */
const UNKNOWN_GAP_MS = 250;

export type JobPhase = FrameOf<'pulse'>['jobs'][number]['phase'];
/** The order of the phases; a report of an earlier phase does not extend the deadline. */
const ORDER: Readonly<Record<JobPhase, number>> = { waiting: 0, reading: 1, writing: 2 };

export interface JobExpectation {
  /** The number of tokens to read before the first token is generated. */
  readonly readTokens: number;
  /** The expected time from getting a slot to the first token. */
  readonly expectedMs: number;
  /** The expected time between two tokens. */
  readonly gapMs?: number | undefined;
  /** The expected time in which the worker loads the model, while the job waits; 0 by default. */
  readonly loadMs?: number | undefined;
  /** Factor of the deadlines for reading and writing, up to their maximum; 1 by default. */
  readonly slowness?: number | undefined;
}

interface WatchedJob extends Required<JobExpectation> {
  readonly gapMs: number;
  readonly loadMs: number;
  readonly slowness: number;
  phase: JobPhase;
  /** Whether the worker has reported the job. */
  isListed: boolean;
  /** Complete ticks since the last progress. */
  ticks: number;
  /** The job has no credit left and waits for the gateway. */
  isHeld: boolean;
  lastTokenAtMs: number | undefined;
  writingMs: number;
  gaps: number;
}

export interface StallReport {
  /** Nothing was received from the worker for too long. */
  readonly isSilent: boolean;
  /** Jobs without progress although the worker is alive. */
  readonly jobs: readonly number[];
}

/** Watches one channel. `nowMs` is a monotonic clock. Reports about unknown jobs are ignored. */
export class StallWatch {
  readonly #tickMs: number;
  readonly #jobs = new Map<number, WatchedJob>();
  #silentTicks = -1;
  #lastTickMs: number | undefined;
  #wasLate = false;

  constructor({ tickMs }: { readonly tickMs: number }) {
    this.#tickMs = tickMs;
  }

  /** Any frame was received. */
  received(): void {
    this.#silentTicks = -1;
  }

  /** A job was sent. */
  started(id: number, { gapMs = UNKNOWN_GAP_MS, loadMs = 0, slowness = 1, ...expectation }: JobExpectation): void {
    // A worker without jobs may be silent.
    if (this.#jobs.size === 0) this.#silentTicks = -1;
    this.#jobs.set(id, {
      ...{ ...expectation, gapMs, loadMs, slowness, phase: 'waiting', isListed: false, ticks: -1, isHeld: false },
      ...{ lastTokenAtMs: undefined, writingMs: 0, gaps: 0 },
    });
  }

  /** The phase of a job, as reported by the worker. */
  phase(id: number, phase: JobPhase): void {
    const job = this.#jobs.get(id);
    if (job) job.isListed = true;
    if (job && ORDER[phase] > ORDER[job.phase]) Object.assign(job, { phase, ticks: -1 });
  }

  /** Tokens were received. `isHeld`: they used up the worker's credit. */
  tokens(id: number, count: number, { nowMs, isHeld }: { readonly nowMs: number; readonly isHeld: boolean }): void {
    const job = this.#jobs.get(id);
    if (!job) return;
    if (job.lastTokenAtMs !== undefined && !job.isHeld) {
      job.writingMs += nowMs - job.lastTokenAtMs;
      job.gaps += count;
    }
    Object.assign(job, { phase: 'writing', ticks: -1, isHeld, lastTokenAtMs: nowMs });
  }

  /** The job received credit: its deadline starts now. */
  credited(id: number, nowMs: number): void {
    const job = this.#jobs.get(id);
    if (job?.isHeld) Object.assign(job, { ticks: -1, isHeld: false, lastTokenAtMs: nowMs });
  }

  ended(id: number): void {
    this.#jobs.delete(id);
  }

  /** Must be called every `tickMs`. Stalled jobs are reported on each tick until `ended` is called. */
  tick(nowMs: number): StallReport {
    if (!this.#isCounted(nowMs)) return { isSilent: false, jobs: [] };
    this.#silentTicks += 1;
    const isSilent = this.#silentTicks >= (this.#jobs.size > 0 ? MAX_SILENT_TICKS : MAX_IDLE_TICKS);
    const stalled: number[] = [];
    for (const [id, job] of this.#jobs) {
      if (job.isHeld) continue;
      job.ticks += 1;
      if (job.ticks * this.#tickMs >= deadlineMs(job)) stalled.push(id);
    }
    return { isSilent, jobs: stalled };
  }

  /**
   * A late tick runs before the frames that arrived in the interim are processed, so it is not counted. The next tick
   * is counted, late or not, because those frames were processed between the two. So our own delay, however long, at
   * most doubles the number of ticks.
   */
  #isCounted(nowMs: number): boolean {
    const isLate = this.#lastTickMs !== undefined && nowMs - this.#lastTickMs > this.#tickMs * LATE_SHARE;
    this.#lastTickMs = nowMs;
    this.#wasLate = isLate && !this.#wasLate;
    return !this.#wasLate;
  }
}

/** The maximum time that a worker gets to read this many tokens. */
export const maxReadingMs = (tokens: number): number => MAX_READING_MS + MAX_READING_MS_PER_TOKEN * tokens;

function deadlineMs(job: WatchedJob): number {
  const { phase, isListed, readTokens, expectedMs, gapMs, loadMs, slowness, writingMs, gaps } = job;
  const readingMs = Math.min(slowness * (READING_FACTOR * expectedMs + READING_SPARE_MS), maxReadingMs(readTokens));
  switch (phase) {
    case 'waiting':
      if (isListed) return MAX_WAITING_MS + Math.min(READING_FACTOR * loadMs, MAX_LOADING_MS);
      return Math.min(MAX_WAITING_MS, readingMs);
    case 'reading':
      return readingMs;
    case 'writing': {
      const meanMs = gaps >= ENOUGH_GAPS ? Math.min(writingMs / gaps, MAX_STRETCH * gapMs) : gapMs;
      return Math.min(MAX_WRITING_MS, slowness * Math.max(MIN_WRITING_MS, MAX_GAPS * meanMs));
    }
    default:
      throw phase satisfies never;
  }
}
