// The requests of one channel: those that are read, those whose receipt is waited for, and those of which late words may come.
import { type FrameOf, StallWatch } from '@strata/inference';
import { type JobFrame, SessionJob, type SessionJobDeps } from './session-job.ts';
import { WorkerLostError } from './worker-session.ts';

/** Before anything is known of a worker's speed. */
const FIRST_TOKEN_MS = 10_000;
/** How long the receipt of a cancelled job is waited for, in ticks, and of how many jobs at most. */
const RECEIPT_TICKS = 20;
const MAX_LEAVING = 1_000;
/** Numbers of which something may come although nobody waits for it. */
const MAX_LATE = 4_000;

export interface SessionJobsDeps {
  readonly peer: string;
  readonly tickMs: number;
  readonly send: (frame: FrameOf<'cancel' | 'credit'>) => void;
}

export class SessionJobs {
  readonly #deps: SessionJobsDeps;
  readonly #watch: StallWatch;
  readonly #jobs = new Map<number, SessionJob>();
  /** Of cancelled jobs: the ticks since; oldest first. */
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

  /** Those of which tokens have come, and more are wanted. */
  get writing(): number {
    return this.#writing.size;
  }

  has(id: number): boolean {
    return this.#jobs.has(id);
  }

  isLate(id: number): boolean {
    return this.#late.has(id);
  }

  /** Something of this number may come, and means nothing. */
  expectLate(id: number): void {
    this.#late.add(id);
    if (this.#late.size > MAX_LATE) this.#late.delete(oldestOf(this.#late));
  }

  start(job: Pick<SessionJobDeps, 'request' | 'requestSha256' | 'options'>): SessionJob {
    const { id, prompt, given } = job.request;
    const { expectedFirstTokenMs: expectedMs = FIRST_TOKEN_MS, expectedGapMs: gapMs } = job.options;
    this.#watch.started(id, { readTokens: prompt.length + given.length, expectedMs, gapMs });
    const started = new SessionJob({
      ...job,
      send: (frame) => {
        if (frame.kind === 'cancel') this.#leave(id);
        else this.#watch.credited(id, performance.now());
        this.#deps.send(frame);
      },
    });
    this.#jobs.set(id, started);
    return started;
  }

  heard(): void {
    this.#watch.heard();
  }

  /** Gives how many of its jobs are known here. */
  takePulse({ jobs }: FrameOf<'pulse'>): number {
    for (const { id, phase } of jobs) this.#watch.phase(id, phase);
    return jobs.reduce((sum, { id }) => sum + (this.#jobs.has(id) ? 1 : 0), 0);
  }

  /** Takes what belongs to a job; what may not be said is told in words. */
  take(frame: JobFrame, sizeBytes: number): string | undefined {
    const job = this.#jobs.get(frame.id);
    const breach = job?.take(frame, sizeBytes);
    if (!job || breach !== undefined) return breach;
    if (frame.kind === 'begin') this.#watch.phase(frame.id, 'reading');
    else if (frame.kind === 'done') this.#forget(frame.id);
    else {
      if (job.isRead) this.#writing.add(frame.id);
      this.#watch.tokens(frame.id, frame.tokens.length, { nowMs: performance.now(), isHeld: job.isHeld });
    }
    return undefined;
  }

  fail(id: number, error: WorkerLostError): void {
    const job = this.#jobs.get(id);
    this.#forget(id);
    job?.fail(error, { isBelieved: true });
  }

  failAll(error: WorkerLostError, belief: { readonly isBelieved: boolean }): void {
    const jobs = [...this.#jobs.values()];
    for (const { id } of jobs) this.#forget(id);
    for (const job of jobs) job.fail(error, belief);
  }

  /** True when the worker says nothing at all any more. Jobs that stand still are given up. */
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

/** Of a set or map that is not empty. */
const oldestOf = (ids: Pick<ReadonlySet<number>, 'keys'>): number => ids.keys().next().value as number;
