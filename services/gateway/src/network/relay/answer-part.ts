// The part of an answer that one worker makes: asked for, taken token by token, accounted for when it is over.
import { createHash, randomBytes } from 'node:crypto';
import type { Job, JobContext } from '@strata/engine';
import { TokenChain } from '@strata/inference';
import type { Trust } from '../audit/trust.ts';
import type { Chosen, Fleet } from '../fleet/fleet.ts';
import { samplingFrame } from '../session/sampling-frame.ts';
import { type SeenPart, type SessionEvent, type SignedSegment, WorkerLostError } from '../session/worker-session.ts';
import type { SettleSegment } from '../settlement/settle-segment.ts';

export interface AnswerPartDeps {
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
  /** How many times slower than expected it may be. */
  readonly slowness: number;
  readonly signal: AbortSignal;
}

export class AnswerPart {
  readonly peer: string;
  readonly #deps: AnswerPartDeps;
  readonly #task: AnswerPartTask;
  readonly #nonce: Uint8Array = randomBytes(16);
  readonly #chain: TokenChain;
  readonly #texts: Uint8Array[] = [];
  readonly #from: number;
  readonly #askedAtMs = performance.now();
  #events: AsyncIterator<SessionEvent> | undefined;
  #made = 0;
  #cachedTokens = 0;
  #firstTokenAtMs: number | undefined;
  #lastTokenAtMs = 0;
  #sideBySide = 0;
  /** Undefined while it runs. A lost worker's part counts as cancelled. */
  #outcome: SeenPart['reason'] | undefined;
  #receipt: { readonly segment: SignedSegment; readonly seen: SeenPart } | undefined;

  constructor(deps: AnswerPartDeps, task: AnswerPartTask) {
    const { modelSha256, promptSha256, answer, chosen } = task;
    this.#deps = deps;
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
    this.#texts.push(bytes);
  }

  /** Nobody wants more of it; the worker is told. */
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
    const onSegment = (segment: SignedSegment, seen: SeenPart) => {
      this.#receipt = { segment, seen };
      if (this.#outcome !== undefined) this.#settle();
    };
    const { session, decodeTokensPerSecond: speed } = chosen;
    const expectedFirstTokenMs = chosen.expectedFirstTokenMs * slowness;
    const expectedGapMs = speed > 0 ? { expectedGapMs: (1_000 / speed) * slowness } : {};
    return session.run(request, { expectedFirstTokenMs, ...expectedGapMs, signal, onSegment })[Symbol.asyncIterator]();
  }

  #take(event: SessionEvent): void {
    if (event.kind === 'begin') this.#cachedTokens = event.cachedTokens;
    if (event.kind === 'end') this.#over(event.reason);
    if (event.kind !== 'tokens') return;
    const problem = this.#problemOf(event.tokens);
    if (problem !== undefined) {
      this.#deps.trust.breach(this.peer, problem);
      this.leave();
      throw new WorkerLostError(this.peer, 'protocol', { detail: problem });
    }
    this.#lastTokenAtMs = performance.now();
    if (this.#firstTokenAtMs !== undefined) return;
    this.#firstTokenAtMs = this.#lastTokenAtMs;
    this.#sideBySide = this.#task.chosen.session.load.writing;
  }

  #problemOf(tokens: SeenPart['tokens']): string | undefined {
    const unknown = tokens.find(({ token }) => token >= this.#task.vocabularySize);
    return unknown && `there is no token ${unknown.token} in the model`;
  }

  /** The end of what is in the answer of it. */
  get #to(): number {
    return this.#from + this.#made;
  }

  #over(outcome: SeenPart['reason'] | 'lost'): void {
    if (this.#outcome !== undefined) return;
    const reason = outcome === 'lost' ? 'cancelled' : outcome;
    this.#outcome = reason;
    if (this.#made > 0 || reason !== 'cancelled') this.#tell(this.#texts, { from: this.#from, reason });
    if (this.#made > 0) this.#noteSegment();
    if (outcome === 'stop' || outcome === 'length' || (outcome === 'cancelled' && this.#made > 0)) this.#noteServed();
    this.#settle();
  }

  #noteSegment(): void {
    const from = this.#from;
    const nonce = Buffer.from(this.#nonce).toString('hex');
    const chainHead = this.#chain.head;
    this.#task.context.onSegment?.({ worker: this.peer, nonce, from, to: from + this.#made, chainHead });
  }

  /** `late`: what came after the tokens that are in the answer. */
  #tell(
    texts: readonly Uint8Array[],
    { from, reason, late = [] }: { from: number; reason: SeenPart['reason']; late?: readonly number[] },
  ): void {
    const { job, modelSha256, answer, chosen } = this.#task;
    const { prompt, maxTokens, sampling, grammar } = job;
    const { contextLength } = chosen;
    this.#deps.trust.answered({
      ...{ worker: this.peer, modelSha256, prompt, answer: [...answer.slice(0, this.#to), ...late], from, maxTokens },
      ...{ contextLength, reason, sampling, grammar, text: Buffer.concat(texts) },
    });
  }

  #noteServed(): void {
    const { job, answer } = this.#task;
    const firstAtMs = this.#firstTokenAtMs;
    this.#deps.fleet.noteServed({
      peer: this.peer,
      promptTokens: job.prompt.length,
      cachedTokens: this.#cachedTokens,
      firstTokenMs: firstAtMs === undefined ? undefined : firstAtMs - this.#askedAtMs,
      decodeMs: firstAtMs === undefined ? 0 : this.#lastTokenAtMs - firstAtMs,
      sideBySide: this.#sideBySide,
      made: this.#made,
      tokens: [...job.prompt, ...answer.slice(0, this.#to)],
    });
  }

  /** Holds the receipt against what was seen, once nothing more is added to it. */
  #settle(): void {
    if (!this.#receipt) return;
    const { segment, seen } = this.#receipt;
    const { job, context, modelSha256, promptSha256, chosen } = this.#task;
    // What came after its reader had gone is the worker's work too, and is checked like the rest.
    const late = seen.tokens.slice(this.#made);
    const problem = this.#problemOf(late);
    if (problem !== undefined) {
      this.#deps.trust.breach(this.peer, problem);
      return;
    }
    for (const { token } of late) this.#chain.push(token);
    if (late.length > 0 || seen.reason !== this.#outcome) {
      const texts = late.map(({ bytes }) => bytes);
      this.#tell(texts, { from: this.#to, reason: seen.reason, late: late.map(({ token }) => token) });
    }
    this.#deps.settle(chosen.session, segment, context.caller, {
      ...{ nonce: this.#nonce, worker: this.peer, modelSha256, promptSha256 },
      ...{ requestSha256: seen.requestSha256, reason: seen.reason, promptTokens: job.prompt.length },
      ...{ from: this.#from, to: this.#from + seen.tokens.length, chainHead: this.#chain.head },
    });
  }
}

/** The same for the same caller, and nothing that a worker could read, or compare with what it has from others. */
function hiddenKey(cacheKey: string, caller = ''): string {
  return createHash('sha256')
    .update(JSON.stringify([caller, cacheKey]))
    .digest('hex');
}
