// The runs that workers are in, each with the one answer that is drawn so far: bounded in tokens, for workers are free to come and go.
import { AuditRun } from '@strata/inference';
import { type SeenAnswer, sizeOf } from './trust.ts';

export interface AuditRunsOptions {
  /** Of answers that wait for the end of their run, prompts included. */
  readonly maxTokens: number;
  /** From 0 to below 1, and nothing that a worker could foresee. */
  readonly random: () => number;
}

/** Runs without any answer drawn are small, but not nothing. */
const MAX_RUNS = 10_000;
/** A longer answer says more and is drawn more often, up to four times: none is too short to be looked at. */
const MIN_WEIGHT = 64;
const MAX_WEIGHT = 256;

export class AuditRuns {
  readonly #options: AuditRunsOptions;
  /** By worker; the one that was longest without an answer first. */
  readonly #runs = new Map<string, AuditRun<SeenAnswer>>();
  #tokens = 0;

  constructor(options: AuditRunsOptions) {
    this.#options = options;
  }

  /** Answers to be audited now: where a run is over, or where too much waits for the end of one. */
  add(answer: SeenAnswer, share: number): readonly SeenAnswer[] {
    const { worker } = answer;
    const run = this.#runs.get(worker) ?? new AuditRun<SeenAnswer>(this.#options.random);
    this.#runs.delete(worker);
    this.#runs.set(worker, run);
    this.#tokens -= drawnSize(run);
    const made = answer.answer.length - answer.from;
    const due = run.add(answer, { share, weight: Math.min(Math.max(made, MIN_WEIGHT), MAX_WEIGHT) });
    this.#tokens += drawnSize(run);
    return due === undefined ? this.#crowdedOut() : [due, ...this.#crowdedOut()];
  }

  /** An audit of this worker came to nothing. */
  owe(worker: string): void {
    this.#runs.get(worker)?.owe();
  }

  /** What it answered before is settled. */
  forget(worker: string): void {
    const run = this.#runs.get(worker);
    if (!run) return;
    this.#tokens -= drawnSize(run);
    this.#runs.delete(worker);
  }

  #crowdedOut(): readonly SeenAnswer[] {
    const due: SeenAnswer[] = [];
    for (const [worker, { drawn }] of this.#runs) {
      if (this.#tokens <= this.#options.maxTokens && this.#runs.size <= MAX_RUNS) break;
      this.forget(worker);
      if (drawn) due.push(drawn);
    }
    return due;
  }
}

const drawnSize = ({ drawn }: AuditRun<SeenAnswer>): number => (drawn ? sizeOf(drawn) : 0);
