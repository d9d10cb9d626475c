// Relays one answer from successive workers as a single stream: each token is added to the answer before it is sent,
// and the next worker receives all tokens so far.
import { EngineError, type Job, type JobEvent, type ModelInfo, type TokenBytes } from '@strata/engine';
import { MAX_TOKENS, needsOf, replayOf, tokensSha256 } from '@strata/inference';
import { isCutShort } from '../audit/audit-facts.ts';
import type { Chosen, Wanted } from '../fleet/fleet.ts';
import { WorkerSearch } from '../fleet/worker-search.ts';
import {
  knownBiases,
  type SessionEvent,
  type SessionToken,
  type TokenLogprob,
  WorkerLostError,
} from '../session/session-events.ts';
import { AnswerPart, type AnswerPartDeps, type RelayTask } from './answer-part.ts';

/** Minimum delay before a hedged request: ordinary delays are as long. */
const MIN_HEDGE_MS = 200;
/** Deadlines double with each loss, at most this often. */
const MAX_DOUBLINGS = 6;

export interface RelayDeps extends AnswerPartDeps {
  readonly info: () => ModelInfo;
  /** The text of tokens: what workers send as text is not used. */
  readonly vocabulary: TokenBytes;
}

export interface RelayOptions {
  readonly hedgeAfter: number | undefined;
  readonly timeoutMs: number;
}

interface PartEvent {
  readonly part: AnswerPart;
  readonly event: SessionEvent;
}

type PartResult = PartEvent | { readonly part: AnswerPart; readonly error: unknown };

export class AnswerRelay {
  readonly #deps: RelayDeps;
  readonly #options: RelayOptions;
  readonly #task: RelayTask;
  readonly #model: ModelInfo;
  readonly #promptSha256: string;
  readonly #search: WorkerSearch;
  /** A token is added before it is emitted, and never removed. */
  readonly #answer: number[];
  #hasBegun = false;

  constructor(deps: RelayDeps, options: RelayOptions, task: RelayTask) {
    this.#deps = deps;
    this.#options = options;
    this.#model = deps.info();
    this.#task = { ...task, job: normalised(task.job, this.#model) };
    this.#promptSha256 = tokensSha256(task.job.prompt);
    this.#search = new WorkerSearch(deps.fleet, options);
    this.#answer = [...task.job.given];
  }

  /** Rejects with EngineError if no worker can complete the answer, or with the signal's reason. */
  async *events(): AsyncGenerator<JobEvent> {
    const { job, signal } = this.#task;
    assertPrompt(job.prompt);
    let wasFull = false;
    while (this.#answer.length < job.maxTokens) {
      const chosen = await (wasFull
        ? this.#search.larger(this.#wanted, signal)
        : this.#search.next(this.#wanted, signal));
      if (!chosen) break;
      wasFull = false;
      let part: AnswerPart | undefined;
      try {
        const first = yield* this.#first(chosen);
        part = first.part;
        for (let event = first.event; ; event = await part.next()) {
          if (event.kind === 'tokens') {
            this.#search.progressed();
            for (const choice of await this.#withText(event.tokens)) {
              signal.throwIfAborted();
              this.#answer.push(choice.token);
              part.commit(choice.token);
              yield { kind: 'token', ...choice };
            }
          } else if (event.kind === 'end') {
            if (event.reason !== 'length' || !this.#isCutShort) {
              yield { kind: 'end', reason: event.reason === 'length' ? 'length' : 'stop' };
              return;
            }
            wasFull = true;
            throw new WorkerLostError(part.peer, 'full');
          }
        }
      } catch (error) {
        if (!(error instanceof WorkerLostError)) throw error;
        this.#lost(error);
      } finally {
        part?.leave();
      }
    }
    if (!this.#hasBegun) yield { kind: 'begin', cachedTokens: 0 };
    yield { kind: 'end', reason: 'length' };
  }

  get #wanted(): Wanted {
    const { job } = this.#task;
    return { prompt: job.prompt, given: this.#answer, needs: needsOf({ ...job, given: this.#answer }) };
  }

  /** Whether the answer was cut short, assuming the context of the model. */
  get #isCutShort(): boolean {
    const { prompt, maxTokens, grammar } = this.#task.job;
    const { contextLength } = this.#model;
    return isCutShort({ prompt, maxTokens, grammar, contextLength, answer: this.#answer, reason: 'length' });
  }

  /** The tokens and their alternatives with the text of this gateway's own vocabulary. */
  async #withText(tokens: readonly SessionToken[]) {
    const asked = tokens.flatMap(({ token, top }) => [token, ...top.map((choice) => choice.token)]);
    const texts = (await this.#deps.vocabulary.bytes(asked)).values();
    const withText = ({ token, logprob }: TokenLogprob) => ({
      token,
      logprob,
      bytes: texts.next().value as Uint8Array,
    });
    return tokens.map(({ top, ...token }) => ({ ...withText(token), top: top.map(withText) }));
  }

  get #hasTokens(): boolean {
    return this.#answer.length > this.#task.job.given.length;
  }

  /**
   * Yields `begin`, and returns the first tokens or the end, with the part that they came from. A second worker is asked
   * if the first one is slow to start; the one with the first token generates the part, the other one is cancelled.
   */
  async *#first(chosen: Chosen): AsyncGenerator<JobEvent, PartEvent> {
    const running = new Map<AnswerPart, Promise<PartResult>>();
    const late = Promise.withResolvers<undefined>();
    const { hedgeAfter } = this.#options;
    const timer =
      hedgeAfter === undefined || this.#hasTokens
        ? undefined
        : setTimeout(late.resolve, Math.max(MIN_HEDGE_MS, hedgeAfter * chosen.expectedFirstTokenMs), undefined);
    let isLate = false;
    let winner: AnswerPart | undefined;
    try {
      for (let part: AnswerPart | undefined = this.#part(chosen); ; ) {
        if (part) running.set(part, resultOf(part));
        part = undefined;
        const result = await Promise.race(isLate ? running.values() : [...running.values(), late.promise]);
        if (!result) {
          isLate = true;
          const other = this.#search.other(this.#wanted, [chosen.session.peer]);
          part = other && this.#part(other);
        } else if ('error' in result) {
          if (running.size === 1 || !(result.error instanceof WorkerLostError)) throw result.error;
          running.delete(result.part);
          this.#lost(result.error);
        } else if (result.event.kind === 'begin') {
          if (!this.#hasBegun) yield result.event;
          this.#hasBegun = true;
          part = result.part;
        } else {
          winner = result.part;
          return result;
        }
      }
    } finally {
      clearTimeout(timer);
      for (const part of running.keys()) if (part !== winner) part.leave();
    }
  }

  #lost(error: WorkerLostError): void {
    this.#search.lost(error, { hasTokens: this.#hasTokens });
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

  /** Replays token by token if that is fast enough: the rest of the answer is then identical. */
  #replay({ decodeTokensPerSecond }: Chosen): Job['replay'] {
    const { job } = this.#task;
    if (job.replay === 'fast' || this.#answer.length === 0) return job.replay;
    return replayOf({ givenTokens: this.#answer.length, decodeTokensPerSecond });
  }
}

/** The job within the limits of workers, including those that audit the answer. */
function normalised(job: Job, { vocabularySize }: ModelInfo): Job {
  const sampling = knownBiases(job.sampling, vocabularySize);
  return { ...job, maxTokens: Math.min(job.maxTokens, MAX_TOKENS), sampling };
}

export function assertPrompt(prompt: readonly number[]): void {
  if (prompt.length === 0) throw new EngineError('prompt-empty', 'the prompt is empty');
}

/** Errors are values here, because they can occur while the promise is not awaited. */
const resultOf = (part: AnswerPart): Promise<PartResult> =>
  part.next().then(
    (event) => ({ part, event }),
    (error: unknown) => ({ part, error }),
  );
