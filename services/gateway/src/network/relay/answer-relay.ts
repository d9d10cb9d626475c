// One answer from one worker after another, as if it were one: tokens are in the answer before anybody sees them, and whoever
// goes on is given all of them.
import { EngineError, type Job, type JobContext, type JobEvent, type ModelInfo } from '@strata/engine';
import { MAX_TOKENS, replayOf, tokensSha256 } from '@strata/inference';
import { isCutShort } from '../audit/audit-facts.ts';
import type { Chosen } from '../fleet/fleet.ts';
import { WorkerSearch } from '../fleet/worker-search.ts';
import { knownBiases } from '../session/sampling-frame.ts';
import { WorkerLostError } from '../session/worker-session.ts';
import { AnswerPart, type AnswerPartDeps } from './answer-part.ts';
import { hedged } from './hedge.ts';

/** A worker is not doubled before that: ordinary delays are as long. */
const MIN_HEDGE_MS = 200;
/** Expected times are doubled with each loss, so often at most. */
const MAX_DOUBLINGS = 6;

export interface RelayDeps extends AnswerPartDeps {
  readonly info: () => ModelInfo;
}

export interface RelayOptions {
  readonly replayBudgetMs: number;
  readonly hedgeAfter: number | undefined;
  readonly patienceMs: number;
}

export interface RelayTask {
  readonly job: Job;
  readonly context: JobContext;
  readonly signal: AbortSignal;
}

export class AnswerRelay {
  readonly #deps: RelayDeps;
  readonly #options: RelayOptions;
  readonly #task: RelayTask;
  readonly #model: ModelInfo;
  readonly #promptSha256: string;
  readonly #search: WorkerSearch;
  /** The answer. A token is in it before it is given to anybody, and never leaves it. */
  readonly #answer: number[];

  constructor(deps: RelayDeps, options: RelayOptions, task: RelayTask) {
    this.#deps = deps;
    this.#options = options;
    this.#model = deps.info();
    this.#task = { ...task, job: askable(task.job, this.#model) };
    this.#promptSha256 = tokensSha256(task.job.prompt);
    this.#search = new WorkerSearch(deps.fleet, options);
    this.#answer = [...task.job.given];
  }

  /** Rejects with EngineError when nobody can finish it, or with the signal's reason. */
  async *events(): AsyncGenerator<JobEvent> {
    const { job, signal } = this.#task;
    assertPrompt(job.prompt);
    let hasBegun = false;
    let wasFull = false;
    while (this.#answer.length < job.maxTokens) {
      const chosen = await (wasFull
        ? this.#search.larger(this.#wanted, signal)
        : this.#search.next(this.#wanted, signal));
      if (!chosen) break;
      wasFull = false;
      try {
        for await (const { part, event } of this.#asked(chosen)) {
          if (event.kind === 'begin') {
            if (!hasBegun) yield event;
            hasBegun = true;
          } else if (event.kind === 'tokens') {
            this.#search.progressed();
            for (const { token, bytes, logprob, top } of event.tokens) {
              signal.throwIfAborted();
              this.#answer.push(token);
              part.commit(token, bytes);
              yield { kind: 'token', token, bytes, logprob, top };
            }
          } else if (event.reason === 'length' && this.#isCutShort) {
            wasFull = true;
            this.#search.lost(new WorkerLostError(part.peer, 'full'), { hasTokens: true });
          } else {
            yield { kind: 'end', reason: event.reason === 'length' ? 'length' : 'stop' };
            return;
          }
        }
      } catch (error) {
        if (!(error instanceof WorkerLostError)) throw error;
      }
    }
    if (!hasBegun) yield { kind: 'begin', cachedTokens: 0 };
    yield { kind: 'end', reason: 'length' };
  }

  get #wanted(): Pick<Job, 'prompt' | 'given'> {
    return { prompt: this.#task.job.prompt, given: this.#answer };
  }

  /** Whether there is room for more of it where the context is the model's. */
  get #isCutShort(): boolean {
    const { prompt, maxTokens, grammar } = this.#task.job;
    const { contextLength } = this.#model;
    return isCutShort({ prompt, maxTokens, grammar, contextLength, answer: this.#answer, reason: 'length' });
  }

  get #hasTokens(): boolean {
    return this.#answer.length > this.#task.job.given.length;
  }

  #asked(chosen: Chosen) {
    const { hedgeAfter } = this.#options;
    const isHedged = hedgeAfter !== undefined && !this.#hasTokens;
    return hedged(this.#part(chosen), {
      afterMs: isHedged ? Math.max(MIN_HEDGE_MS, hedgeAfter * chosen.expectedFirstTokenMs) : undefined,
      second: () => {
        const other = this.#search.other(this.#wanted, [chosen.session.peer]);
        return other && this.#part(other);
      },
      onLost: (error) => this.#search.lost(error, { hasTokens: this.#hasTokens }),
    });
  }

  #part(chosen: Chosen): AnswerPart {
    const slowness = 2 ** Math.min(this.#search.losses, MAX_DOUBLINGS);
    return new AnswerPart(this.#deps, {
      ...{ ...this.#task, chosen, answer: this.#answer, promptSha256: this.#promptSha256 },
      ...{ modelSha256: this.#model.sha256, vocabularySize: this.#model.vocabularySize },
      replay: this.#replay(chosen),
      slowness,
    });
  }

  /** Token by token where that is soon done: then the rest is what it would have been. */
  #replay({ decodeTokensPerSecond }: Chosen): Job['replay'] {
    const { job } = this.#task;
    if (job.replay === 'fast' || !this.#hasTokens) return job.replay;
    const { replayBudgetMs } = this.#options;
    return replayOf({ givenTokens: this.#answer.length, decodeTokensPerSecond, budgetMs: replayBudgetMs });
  }
}

/** The job as it can be put to workers, those that check an answer included. */
function askable(job: Job, { vocabularySize }: ModelInfo): Job {
  const sampling = knownBiases(job.sampling, vocabularySize);
  return { ...job, maxTokens: Math.min(job.maxTokens, MAX_TOKENS), sampling };
}

export function assertPrompt(prompt: readonly number[]): void {
  if (prompt.length === 0) throw new EngineError('prompt-empty', 'there is nothing to go on from');
}
