// The requests of one channel: with a reader, waiting for a receipt, or abandoned but with late frames to expect.
import { type FrameOf, StallWatch } from '@strata/inference';
import { WorkerLostError } from './session-events.ts';
import { SessionJob, type SessionJobDeps, type SessionJobTask } from './session-job.ts';

/** Assumed before the speed of a worker is known. */
const FIRST_TOKEN_MS = 10_000;
/** How long to wait for the receipt of a cancelled job, in ticks, and for how many jobs at most. */
const RECEIPT_TICKS = 20;
const MAX_LEAVING = 1_000;
/** Maximum number of ids for which late frames are accepted. */
const MAX_LATE = 4_000;

export interface SessionJobsDeps {
  readonly peer: string;
  readonly tickMs: number;
  readonly send: SessionJobDeps['send'];
}

export class SessionJobs {
  readonly #deps: SessionJobsDeps;
  readonly #watch: StallWatch;
  readonly #jobs = new Map<number, SessionJob>();
  /** Ticks since the cancellation, by job; oldest first. */
  readonly #leaving = new Map<number, number>();
  readonly #late = new Set<number>();
  readonly #writing = new Set<number>();

  constructor(deps: SessionJobsDeps) {
    this.#deps = deps;
    this.#watch = new StallWatch({ tickMs: deps.tickMs });
  }

  get size(): number {
    return this.#jobs.size;
  }

  /** The number of jobs that have received tokens and expect more. */
  get writing(): number {
    return this.#writing.size;
  }

  get(id: number): SessionJob | undefined {
    return this.#jobs.get(id);
  }

  isLate(id: number): boolean {
    return this.#late.has(id);
  }

  /** Accepts and ignores late frames with this id. */
  expectLate(id: number): void {
    this.#late.add(id);
    if (this.#late.size > MAX_LATE) this.#late.delete(oldestOf(this.#late));
  }

  start(task: SessionJobTask): SessionJob {
    const { id, prompt, given } = task.request;
    const { expectedFirstTokenMs: expectedMs = FIRST_TOKEN_MS, expectedGapMs: gapMs, loadMs, slowness } = task.options;
    this.#watch.started(id, { readTokens: prompt.length + given.length, expectedMs, gapMs, loadMs, slowness });
    const job = new SessionJob(task, {
      watch: this.#watch,
      send: this.#deps.send,
      onWriting: () => this.#writing.add(id),
      onLeft: () => this.#leave(id),
      onOver: () => this.#forget(id),
    });
    this.#jobs.set(id, job);
    return job;
  }

  received(): void {
    this.#watch.received();
  }

  /** Returns how many of the listed jobs are known here. */
  takeHeartbeat({ jobs }: FrameOf<'pulse'>): number {
    for (const { id, phase } of jobs) this.#watch.phase(id, phase);
    return jobs.reduce((sum, { id }) => sum + (this.#jobs.has(id) ? 1 : 0), 0);
  }

  failAll(error: WorkerLostError, belief: { readonly isBelieved: boolean }): void {
    for (const job of [...this.#jobs.values()]) job.fail(error, belief);
  }

  /** Returns true if the worker is silent. Stalled jobs are cancelled. */
  tick(): boolean {
    const { isSilent, jobs } = this.#watch.tick(performance.now());
    if (isSilent) return true;
    for (const id of jobs) this.#jobs.get(id)?.giveUp(new WorkerLostError(this.#deps.peer, 'stalled'));
    for (const [id, ticks] of this.#leaving) {
      if (ticks >= RECEIPT_TICKS) this.#abandon(id);
      else this.#leaving.set(id, ticks + 1);
    }
    return false;
  }

  #leave(id: number): void {
    this.#watch.ended(id);
    this.#writing.delete(id);
    this.#leaving.set(id, 0);
    if (this.#leaving.size > MAX_LEAVING) this.#abandon(oldestOf(this.#leaving));
  }

  #abandon(id: number): void {
    this.#forget(id);
    this.expectLate(id);
  }

  #forget(id: number): void {
    this.#watch.ended(id);
    this.#writing.delete(id);
    this.#leaving.delete(id);
    this.#jobs.delete(id);
  }
}

/** The oldest id of a set or map that is not empty. */
const oldestOf = (ids: Pick<ReadonlySet<number>, 'keys'>): number => ids.keys().next().value as number;
