// The part of an answer that one worker generates: requested, received token by token, and settled when it ends.
import { createHash, randomBytes } from 'node:crypto';
import type { Job, JobContext } from '@strata/engine';
import { TokenChain } from '@strata/inference';
import type { Trust } from '../audit/trust.ts';
import type { Chosen, Fleet } from '../fleet/fleet.ts';
import {
  type ObservedPart,
  type SessionEvent,
  type SignedSegment,
  samplingFrame,
  WorkerLostError,
} from '../session/session-events.ts';
import type { Settlement } from '../settlement.ts';

export interface AnswerPartDeps {
  readonly fleet: Fleet;
  readonly trust: Trust;
  readonly settlement: Pick<Settlement, 'settle'>;
}

export interface RelayTask {
  readonly job: Job;
  readonly context: JobContext;
  readonly signal: AbortSignal;
}

export interface AnswerPartTask extends RelayTask {
  readonly modelSha256: string;
  readonly vocabularySize: number;
  readonly promptSha256: string;
  readonly chosen: Chosen;
  readonly replay: Job['replay'];
  /** The growing answer of all workers; its tokens so far are passed to this worker. */
  readonly answer: readonly number[];
  /** Factor by which it may be slower than expected. */
  readonly slowness: number;
}

export class AnswerPart {
  readonly peer: string;
  readonly #deps: AnswerPartDeps;
  readonly #task: AnswerPartTask;
  readonly #nonce: Uint8Array = randomBytes(16);
  readonly #chain: TokenChain;
  readonly #from: number;
  readonly #askedAtMs = performance.now();
  #events: AsyncIterator<SessionEvent> | undefined;
  #made = 0;
  #cachedTokens = 0;
  #firstTokenAtMs: number | undefined;
  #lastTokenAtMs = 0;
  #concurrentAnswers = 0;
  /** Undefined while it runs. The part of a lost worker counts as cancelled. */
  #outcome: ObservedPart['reason'] | undefined;
  #receipt: { readonly segment: SignedSegment; readonly observed: ObservedPart } | undefined;

  constructor(deps: AnswerPartDeps, task: AnswerPartTask) {
    const { modelSha256, promptSha256, answer, chosen } = task;
    this.#deps = deps;
    this.#task = task;
    this.peer = chosen.session.peer;
    this.#from = answer.length;
    this.#chain = new TokenChain({ nonce: this.#nonce, modelSha256, promptSha256, from: this.#from });
  }

  /** The next event. Must not be called after `end`. Rejects with WorkerLostError, or with the signal's reason. */
  async next(): Promise<SessionEvent> {
    try {
      this.#events ??= this.#ask();
      const { value: event, done } = await this.#events.next();
      if (done) throw new WorkerLostError(this.peer, 'disconnected');
      this.#take(event);
      return event;
    } catch (error) {
      if (error instanceof WorkerLostError) this.#over('lost');
      throw error;
    }
  }

  /** Adds one of its tokens to the answer. */
  commit(token: number): void {
    this.#made += 1;
    this.#chain.push(token);
  }

  /** Cancels the part at the worker. */
  leave(): void {
    this.#over('cancelled');
    void this.#events?.return?.();
  }

  #ask(): AsyncIterator<SessionEvent> {
    const { job, context, chosen, modelSha256, replay, answer, slowness, signal } = this.#task;
    const { prompt, maxTokens, sampling, grammar, cacheKey, topLogprobs } = job;
    const request = {
      ...{ nonce: this.#nonce, modelSha256, prompt, given: [...answer], replay, maxTokens },
      sampling: samplingFrame(sampling),
      ...(grammar === undefined ? {} : { grammar }),
      ...(cacheKey === undefined ? {} : { cacheKey: hiddenKey(cacheKey, context.caller) }),
      ...(topLogprobs === undefined ? {} : { topLogprobs }),
    };
    const onSegment = (segment: SignedSegment, observed: ObservedPart) => {
      this.#receipt = { segment, observed };
      if (this.#outcome !== undefined) this.#settle();
    };
    const { session, expectedFirstTokenMs, decodeTokensPerSecond: speed, loadMs } = chosen;
    const expectedGapMs = speed > 0 ? { expectedGapMs: 1_000 / speed } : {};
    return session
      .run(request, { expectedFirstTokenMs, loadMs, ...expectedGapMs, slowness, signal, onSegment })
      [Symbol.asyncIterator]();
  }

  #take(event: SessionEvent): void {
    if (event.kind === 'begin') this.#cachedTokens = event.cachedTokens;
    if (event.kind === 'end') this.#over(event.reason);
    if (event.kind !== 'tokens') return;
    const problem = this.#problemOf(
      event.tokens.flatMap(({ token, top }) => [token, ...top.map((other) => other.token)]),
    );
    if (problem !== undefined) {
      this.#deps.trust.breach(this.peer, problem);
      this.leave();
      throw new WorkerLostError(this.peer, 'protocol', { detail: problem });
    }
    this.#lastTokenAtMs = performance.now();
    if (this.#firstTokenAtMs !== undefined) return;
    this.#firstTokenAtMs = this.#lastTokenAtMs;
    this.#concurrentAnswers = this.#task.chosen.session.load.writing;
  }

  #problemOf(tokens: ObservedPart['tokens']): string | undefined {
    const unknown = tokens.find((token) => token >= this.#task.vocabularySize);
    return unknown === undefined ? undefined : `the model has no token ${unknown}`;
  }

  /** The end position of its tokens in the answer. */
  get #to(): number {
    return this.#from + this.#made;
  }

  #over(outcome: ObservedPart['reason'] | 'lost'): void {
    if (this.#outcome !== undefined) return;
    const reason = outcome === 'lost' ? 'cancelled' : outcome;
    this.#outcome = reason;
    if (this.#made > 0 || reason !== 'cancelled') this.#reportAnswered({ from: this.#from, reason });
    if (this.#made > 0) this.#noteSegment();
    if (outcome === 'stop' || outcome === 'length' || (outcome === 'cancelled' && this.#made > 0)) this.#noteServed();
    this.#settle();
  }

  #noteSegment(): void {
    const from = this.#from;
    const nonce = Buffer.from(this.#nonce).toString('hex');
    const verified = this.#deps.trust.verified(this.peer, this.#task.modelSha256);
    const chainHead = this.#chain.head;
    this.#task.context.onSegment?.({ worker: this.peer, nonce, from, to: from + this.#made, chainHead, verified });
  }

  /** `late`: tokens received after those in the answer. */
  #reportAnswered({
    from,
    reason,
    late = [],
  }: {
    readonly from: number;
    readonly reason: ObservedPart['reason'];
    readonly late?: readonly number[];
  }): void {
    const { job, modelSha256, answer, chosen } = this.#task;
    const { prompt, maxTokens, sampling, grammar } = job;
    const { contextLength } = chosen;
    this.#deps.trust.answered({
      ...{ worker: this.peer, modelSha256, prompt, answer: [...answer.slice(0, this.#to), ...late], from, maxTokens },
      ...{ contextLength, reason, sampling, grammar },
    });
  }

  #noteServed(): void {
    const { job, answer, chosen } = this.#task;
    const firstAtMs = this.#firstTokenAtMs;
    // The time of a load says nothing about the speed.
    const isMeasured = firstAtMs !== undefined && chosen.loadMs === 0;
    this.#deps.fleet.noteServed({
      peer: this.peer,
      promptTokens: job.prompt.length,
      cachedTokens: this.#cachedTokens,
      firstTokenMs: isMeasured ? firstAtMs - this.#askedAtMs : undefined,
      decodeMs: firstAtMs === undefined ? 0 : this.#lastTokenAtMs - firstAtMs,
      concurrentAnswers: this.#concurrentAnswers,
      made: this.#made,
      tokens: [...job.prompt, ...answer.slice(0, this.#to)],
    });
  }

  /** Settles the receipt once the observed segment is complete. */
  #settle(): void {
    if (!this.#receipt) return;
    const { segment, observed } = this.#receipt;
    const { job, context, modelSha256, promptSha256, chosen } = this.#task;
    // Tokens received after the reader left are the worker's output too, and are checked like the rest.
    const late = observed.tokens.slice(this.#made);
    const problem = this.#problemOf(late);
    if (problem !== undefined) {
      this.#deps.trust.breach(this.peer, problem);
      return;
    }
    for (const token of late) this.#chain.push(token);
    if (late.length > 0 || observed.reason !== this.#outcome)
      this.#reportAnswered({ from: this.#to, reason: observed.reason, late });
    this.#deps.settlement.settle(chosen.session, segment, context.caller, {
      ...{ nonce: this.#nonce, worker: this.peer, modelSha256, promptSha256 },
      ...{ requestSha256: observed.requestSha256, reason: observed.reason, promptTokens: job.prompt.length },
      ...{ from: this.#from, to: this.#from + observed.tokens.length, chainHead: this.#chain.head },
    });
  }
}

/**
 * A key that is stable per caller, but that a worker can neither read nor compare with keys of other gateways' callers.
 */
function hiddenKey(cacheKey: string, caller = ''): string {
  return createHash('sha256')
    .update(JSON.stringify([caller, cacheKey]))
    .digest('hex');
}
