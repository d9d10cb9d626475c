// The audit runs of all workers, each with the answer selected so far: limited in tokens, because workers can come and
// go freely.
import { AuditRun } from '@strata/inference';
import { type ObservedAnswer, sizeOf } from './trust.ts';

export interface AuditRunsOptions {
  /** Tokens of the selected answers, including their prompts. */
  readonly maxTokens: number;
  /** Numbers from 0 to below 1 that a worker cannot predict. */
  readonly random: () => number;
}

/** Limit for runs without a selected answer, which are small but not free. */
const MAX_RUNS = 10_000;
/**
 * Longer answers contain more evidence and are selected more often, up to four times; short ones keep a minimum weight.
 */
const MIN_WEIGHT = 64;
const MAX_WEIGHT = 256;

export class AuditRuns {
  readonly #options: AuditRunsOptions;
  /** By worker, least recently active first. */
  readonly #runs = new Map<string, AuditRun<ObservedAnswer>>();
  #tokens = 0;

  constructor(options: AuditRunsOptions) {
    this.#options = options;
  }

  /** Returns the answers to audit now: of a run that has ended, or of runs that were evicted. */
  add(answer: ObservedAnswer, share: number): readonly ObservedAnswer[] {
    const { worker } = answer;
    const run = this.#runs.get(worker) ?? new AuditRun<ObservedAnswer>(this.#options.random);
    this.#runs.delete(worker);
    this.#runs.set(worker, run);
    this.#tokens -= drawnSize(run);
    const made = answer.answer.length - answer.from;
    const due = run.add(answer, { share, weight: Math.min(Math.max(made, MIN_WEIGHT), MAX_WEIGHT) });
    this.#tokens += drawnSize(run);
    return due === undefined ? this.#evicted() : [due, ...this.#evicted()];
  }

  /** An audit of this worker failed to take place. */
  owe(worker: string): void {
    this.#runs.get(worker)?.owe();
  }

  /** Drops the run of a worker. */
  forget(worker: string): void {
    const run = this.#runs.get(worker);
    if (!run) return;
    this.#tokens -= drawnSize(run);
    this.#runs.delete(worker);
  }

  #evicted(): readonly ObservedAnswer[] {
    const due: ObservedAnswer[] = [];
    for (const [worker, { drawn }] of this.#runs) {
      if (this.#tokens <= this.#options.maxTokens && this.#runs.size <= MAX_RUNS) break;
      this.forget(worker);
      if (drawn) due.push(drawn);
    }
    return due;
  }
}

const drawnSize = ({ drawn }: AuditRun<ObservedAnswer>): number => (drawn ? sizeOf(drawn) : 0);
