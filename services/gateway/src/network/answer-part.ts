// The part of an answer that one worker makes: asked for, taken token by token, accounted for when it is over.
import { randomBytes } from 'node:crypto';
import type { Job, JobContext } from '@strata/engine';
import { TokenChain } from '@strata/inference';
import type { Chosen, Fleet } from './fleet.ts';
import { samplingFrame } from './sampling-frame.ts';
import type { SettleSegment } from './settle-segment.ts';
import type { Trust } from './trust.ts';
import { type SeenPart, type SessionEvent, type SignedSegment, WorkerLostError } from './worker-session.ts';

export interface AnswerPartParts {
  readonly fleet: Fleet;
  readonly trust: Trust;
  readonly settle: SettleSegment;
}

export interface AnswerPartTask {
  readonly job: Job;
  readonly context: JobContext;
  readonly modelSha256: string;
  readonly vocabularySize: number;
  readonly promptSha256: string;
  readonly chosen: Chosen;
  readonly replay: Job['replay'];
  /** The answer as it grows, whoever makes it; its tokens up to now are given to this worker. */
  readonly answer: readonly number[];
  readonly expectedFirstTokenMs: number;
  readonly signal: AbortSignal;
}

export class AnswerPart {
  readonly peer: string;
  readonly #parts: AnswerPartParts;
  readonly #task: AnswerPartTask;
  readonly #nonce: Uint8Array = randomBytes(16);
  readonly #chain: TokenChain;
  readonly #text: Uint8Array[] = [];
  readonly #from: number;
  readonly #askedAtMs = performance.now();
  #events: AsyncIterator<SessionEvent> | undefined;
  #made = 0;
  #cachedTokens = 0;
  #firstTokenAtMs: number | undefined;
  #lastTokenAtMs = 0;
  #isOver = false;
  #receipt: { readonly segment: SignedSegment; readonly seen: SeenPart } | undefined;

  constructor(parts: AnswerPartParts, task: AnswerPartTask) {
    const { modelSha256, promptSha256, answer, chosen } = task;
    this.#parts = parts;
    this.#task = task;
    this.peer = chosen.session.peer;
    this.#from = answer.length;
    this.#chain = new TokenChain({ nonce: this.#nonce, modelSha256, promptSha256, from: this.#from });
  }

  /** What comes next; after `end` nothing does. Rejects with WorkerLostError, or with the signal's reason. */
  async next(): Promise<SessionEvent> {
    try {
      this.#events ??= this.#ask();
      const { value: event, done } = await this.#events.next();
      if (done) throw new WorkerLostError(this.peer, 'gone');
      this.#take(event);
      return event;
    } catch (error) {
      if (error instanceof WorkerLostError) this.#over('lost');
      throw error;
    }
  }

  /** One more of its tokens is in the answer, with the text that it says the token has. */
  commit(token: number, bytes: Uint8Array): void {
    this.#made += 1;
    this.#chain.push(token);
    this.#text.push(bytes);
  }

  /** Nobody wants more of it; the worker is told. */
  leave(): void {
    this.#over('cancelled');
    void this.#events?.return?.();
  }

  #ask(): AsyncIterator<SessionEvent> {
    const { job, chosen, modelSha256, vocabularySize, replay, answer, expectedFirstTokenMs, signal } = this.#task;
    const { prompt, maxTokens, sampling, grammar, cacheKey, topLogprobs } = job;
    const request = {
      ...{ nonce: this.#nonce, modelSha256, prompt, given: [...answer], replay, maxTokens },
      sampling: samplingFrame(sampling, vocabularySize),
      ...(grammar === undefined ? {} : { grammar }),
      ...(cacheKey === undefined ? {} : { cacheKey }),
      ...(topLogprobs === undefined ? {} : { topLogprobs }),
    };
    const onSegment = (segment: SignedSegment, seen: SeenPart) => {
      this.#receipt = { segment, seen };
      if (this.#isOver) this.#settle();
    };
    const { decodeTokensPerSecond: speed } = chosen;
    const expected = { expectedFirstTokenMs, ...(speed > 0 ? { expectedGapMs: 1_000 / speed } : {}) };
    return chosen.session.run(request, { ...expected, signal, onSegment })[Symbol.asyncIterator]();
  }

  #take(event: SessionEvent): void {
    if (event.kind === 'begin') this.#cachedTokens = event.cachedTokens;
    if (event.kind === 'end') this.#over(event.reason);
    if (event.kind !== 'tokens') return;
    const unknown = event.tokens.find(({ token }) => token >= this.#task.vocabularySize);
    if (unknown) {
      const detail = `there is no token ${unknown.token} in the model`;
      this.#parts.trust.breach(this.peer, detail);
      this.leave();
      throw new WorkerLostError(this.peer, 'protocol', { detail });
    }
    this.#lastTokenAtMs = performance.now();
    this.#firstTokenAtMs ??= this.#lastTokenAtMs;
  }

  #over(outcome: SeenPart['reason'] | 'lost'): void {
    if (this.#isOver) return;
    this.#isOver = true;
    // An end without any token is an answer, too, and may be a lie.
    const isAnswer = this.#made > 0 || outcome === 'stop' || outcome === 'length';
    if (isAnswer) this.#tell(outcome === 'lost' ? 'cancelled' : outcome);
    if (isAnswer && outcome !== 'lost') this.#noteServed();
    this.#settle();
  }

  #tell(reason: SeenPart['reason']): void {
    const { job, context, modelSha256, answer, chosen } = this.#task;
    const { contextLength } = chosen;
    const { prompt, maxTokens, sampling, grammar } = job;
    const from = this.#from;
    const to = from + this.#made;
    const nonce = Buffer.from(this.#nonce).toString('hex');
    if (this.#made > 0) context.onSegment?.({ worker: this.peer, nonce, from, to, chainHead: this.#chain.head });
    this.#parts.trust.answered({
      ...{
        worker: this.peer,
        modelSha256,
        prompt,
        answer: answer.slice(0, to),
        from,
        maxTokens,
        contextLength,
        reason,
      },
      ...{ sampling, grammar, text: Buffer.concat(this.#text) },
    });
  }

  #noteServed(): void {
    const { job, answer } = this.#task;
    const firstAtMs = this.#firstTokenAtMs;
    this.#parts.fleet.noteServed({
      peer: this.peer,
      promptTokens: job.prompt.length,
      cachedTokens: this.#cachedTokens,
      firstTokenMs: firstAtMs === undefined ? undefined : firstAtMs - this.#askedAtMs,
      decodeMs: firstAtMs === undefined ? 0 : this.#lastTokenAtMs - firstAtMs,
      made: this.#made,
      tokens: [...job.prompt, ...answer.slice(0, this.#from + this.#made)],
    });
  }

  /** Holds the receipt against what was seen, once nothing more is added to it. */
  #settle(): void {
    if (!this.#receipt) return;
    const { segment, seen } = this.#receipt;
    const { job, context, modelSha256, promptSha256, chosen } = this.#task;
    // What came after its reader had gone is the worker's work too.
    for (const token of seen.tokens.slice(this.#made)) this.#chain.push(token);
    this.#parts.settle(chosen.session, segment, context.caller, {
      ...{ nonce: this.#nonce, worker: this.peer, modelSha256, promptSha256 },
      ...{ requestSha256: seen.requestSha256, reason: seen.reason, promptTokens: job.prompt.length },
      ...{ from: this.#from, to: this.#from + seen.tokens.length, chainHead: this.#chain.head },
    });
  }
}
