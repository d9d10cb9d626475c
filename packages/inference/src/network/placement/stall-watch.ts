// Whether a worker, or one of its jobs, stands still. Time is counted in ticks of our own timer, and a tick that came late says
// nothing against the worker: what it sent meanwhile may lie unread with us. Pure: it reads no clock.
import type { FrameOf } from '../protocol/frame.ts';

/** Silent ticks with jobs under way, and without: a worker tells of itself every tick while it works for us, else every fourth. */
const MAX_SILENT_TICKS = 4;
const MAX_IDLE_TICKS = 20;
/** Of a tick: whatever is later is late. */
const LATE_SHARE = 1.5;

/** A worker that says that a job waits for a place is given so long to find one. */
const MAX_WAITING_MS = 10_000;
/** Before the first token, and for jobs of which the worker has said nothing: so many times what was expected, and so much more. */
const READING_FACTOR = 4;
const READING_SPARE_MS = 2_000;
/** What is expected comes from a claim: whatever it is, so long, and so much more for each token to be read. Ten a second are too few. */
const MAX_READING_MS = 10_000;
const MAX_READING_MS_PER_TOKEN = 100;
/** Between tokens: at least so long, so many times the mean gap, and no longer than a reader waits for anything. */
const MIN_WRITING_MS = 1_000;
const MAX_GAPS = 20;
const MAX_WRITING_MS = 10_000;
/** The mean of fewer says little. */
const ENOUGH_GAPS = 4;
/** A mean that is so many times what was expected is believed; a longer one would let a worker that grows ever slower go on for ever. */
const MAX_STRETCH = 4;
/** Taken where nobody knows better. */
const UNKNOWN_GAP_MS = 250;

export type JobPhase = FrameOf<'pulse'>['jobs'][number]['phase'];
/** A job goes through them in this order; a worker that says otherwise gets no new time by it. */
const ORDER: Readonly<Record<JobPhase, number>> = { waiting: 0, reading: 1, writing: 2 };

export interface JobExpectation {
  /** Tokens that have to be read before the first one comes. */
  readonly readTokens: number;
  /** From when it has a place to its first token. */
  readonly expectedMs: number;
  /** From one token to the next. */
  readonly gapMs?: number | undefined;
}

interface WatchedJob extends Required<JobExpectation> {
  readonly gapMs: number;
  phase: JobPhase;
  /** Whether the worker has said that it has it. */
  isListed: boolean;
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

/** Watches one channel. `nowMs` is of a clock that only runs forward; what is told of jobs that it does not know is passed over. */
export class StallWatch {
  readonly #tickMs: number;
  readonly #jobs = new Map<number, WatchedJob>();
  #silentTicks = -1;
  #lastTickMs: number | undefined;
  #wasLate = false;

  constructor({ tickMs }: { readonly tickMs: number }) {
    this.#tickMs = tickMs;
  }

  /** Something came, whatever it was. */
  heard(): void {
    this.#silentTicks = -1;
  }

  /** A job was sent. */
  started(id: number, { gapMs = UNKNOWN_GAP_MS, ...expectation }: JobExpectation): void {
    // A worker that had nothing to do was right to be quiet.
    if (this.#jobs.size === 0) this.#silentTicks = -1;
    this.#jobs.set(id, {
      ...{ ...expectation, gapMs, phase: 'waiting', isListed: false, ticks: -1, isHeld: false },
      ...{ lastTokenAtMs: undefined, writingMs: 0, gaps: 0 },
    });
  }

  /** What the worker says of a job. */
  phase(id: number, phase: JobPhase): void {
    const job = this.#jobs.get(id);
    if (job) job.isListed = true;
    if (job && ORDER[phase] > ORDER[job.phase]) Object.assign(job, { phase, ticks: -1 });
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

  /** To be called every `tickMs`. Jobs are named again each time, until they are ended. */
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
   * A late tick runs before what came meanwhile is handled, so it does not count; the next one does, late or not, since
   * whatever had come was handled between the two. So lag of ours, however long it lasts, at most doubles the ticks.
   */
  #isCounted(nowMs: number): boolean {
    const isLate = this.#lastTickMs !== undefined && nowMs - this.#lastTickMs > this.#tickMs * LATE_SHARE;
    this.#lastTickMs = nowMs;
    this.#wasLate = isLate && !this.#wasLate;
    return !this.#wasLate;
  }
}

/** Longer than this no worker is given to read so many tokens. */
export const maxReadingMs = (tokens: number): number => MAX_READING_MS + MAX_READING_MS_PER_TOKEN * tokens;

function deadlineMs({ phase, isListed, readTokens, expectedMs, gapMs, writingMs, gaps }: WatchedJob): number {
  const readingMs = Math.min(READING_FACTOR * expectedMs + READING_SPARE_MS, maxReadingMs(readTokens));
  switch (phase) {
    case 'waiting':
      return isListed ? MAX_WAITING_MS : Math.min(MAX_WAITING_MS, readingMs);
    case 'reading':
      return readingMs;
    case 'writing': {
      const meanMs = gaps >= ENOUGH_GAPS ? Math.min(writingMs / gaps, MAX_STRETCH * gapMs) : gapMs;
      return Math.min(MAX_WRITING_MS, Math.max(MIN_WRITING_MS, MAX_GAPS * meanMs));
    }
    default:
      throw phase satisfies never;
  }
}
