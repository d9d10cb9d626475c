// One request of a gateway: a place, tokens as they come, and a signed receipt at the end.
import { propagation, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import type { Job, JobEvent } from '@strata/engine';
import {
  bytesSha256,
  type Frame,
  type FrameOf,
  type Sampling,
  type SegmentReceipt,
  TokenChain,
  tokensSha256,
} from '@strata/inference';
import type { Logger } from 'pino';
import type { LentModel } from '../contributed-model.ts';
import type { Receipts } from '../store/receipts.ts';
import { Credit } from './credit.ts';
import type { EngineSlots } from './engine-slots.ts';
import { failureOf, RequestFailure } from './failure.ts';
import type { Fitness } from './fitness.ts';
import type { Grammars } from './grammars.ts';
import { TokenBatch } from './token-batch.ts';

/** What all requests of all gateways share. */
export interface RequestDeps {
  /** Peer id of this worker. */
  readonly worker: string;
  readonly model: LentModel;
  readonly places: EngineSlots;
  readonly receipts: Receipts;
  readonly grammars: Grammars;
  readonly fitness: Fitness;
  readonly logger: Logger;
  readonly nowMs: () => number;
}

export interface GivenRequest {
  readonly request: FrameOf<'request'>;
  /** The frame as it came. */
  readonly bytes: Uint8Array;
  /** Peer id. */
  readonly gateway: string;
  readonly send: (frame: Frame) => Promise<void>;
}

/** `gone`: nobody is left to answer. `leaving`: the gateway gets it back, to go on elsewhere. */
export type StopCause = 'cancelled' | 'gone' | 'leaving';

/** A place is not kept for a reader who takes nothing for so long. */
const MAX_WAIT_MS = 120_000;

const tracer = trace.getTracer('strata-worker');

export class RequestRun {
  phase: 'waiting' | 'reading' | 'writing' = 'waiting';
  readonly #given: GivenRequest;
  readonly #deps: RequestDeps;
  readonly #credit: Credit;
  readonly #stopping = new AbortController();
  readonly #batch: TokenBatch;
  readonly #chain: TokenChain;
  readonly #startedAtMs: number;
  #stopCause: StopCause | undefined;
  #firstTokenAtMs = 0;
  #cachedTokens = 0;

  constructor(given: GivenRequest, deps: RequestDeps) {
    const { request, send } = given;
    const { id, nonce, modelSha256 } = request;
    this.#given = given;
    this.#deps = deps;
    this.#startedAtMs = deps.nowMs();
    this.#credit = new Credit(request.credit);
    const from = request.given.length;
    this.#batch = new TokenBatch(from, (tokens, position) => send({ kind: 'tokens', id, position, tokens }));
    this.#chain = new TokenChain({ nonce, modelSha256, promptSha256: tokensSha256(request.prompt), from });
  }

  grant(tokens: number): void {
    this.#credit.grant(tokens);
  }

  /** The first cause counts. */
  stop(cause: StopCause): void {
    this.#stopCause ??= cause;
    this.#stopping.abort(new Error(`the request is ${cause}`));
  }

  /** Resolves when the gateway has been told how it ended; never rejects. */
  run(): Promise<void> {
    const { traceparent } = this.#given.request;
    const parent = propagation.extract(ROOT_CONTEXT, traceparent === undefined ? {} : { traceparent });
    return tracer.startActiveSpan('segment', { kind: SpanKind.SERVER }, parent, async (span) => {
      await this.#run();
      span.setAttribute('strata.cached_tokens', this.#cachedTokens).end();
    });
  }

  async #run(): Promise<void> {
    try {
      const reason = await this.#answer().catch((error: unknown) => {
        if (this.#stopCause === 'cancelled') return 'cancelled' as const;
        throw error;
      });
      await this.#finish(reason);
    } catch (error) {
      this.#batch.drop();
      await this.#fail(error);
    }
  }

  async #answer(): Promise<'stop' | 'length'> {
    const { request, gateway } = this.#given;
    const { model, places, receipts, grammars, fitness } = this.#deps;
    checkRequest(request, model);
    const trouble = fitness.trouble();
    if (trouble) throw trouble;
    if (receipts.isRefused(gateway))
      throw new RequestFailure('busy', 'too many receipts that this gateway has not agreed to');
    if (!receipts.claim(request.nonce)) throw new RequestFailure('protocol', 'there was a request with this nonce');
    using _place = await places.enter(gateway, this.#stopping.signal);
    this.phase = 'reading';
    // Awaited here: the place goes with this function.
    return await grammars.guard(gateway, request.grammar, () => this.#generate());
  }

  async #generate(): Promise<'stop' | 'length'> {
    const { request, gateway } = this.#given;
    const { model } = this.#deps;
    const { signal } = this.#stopping;
    for await (const event of model.engine.generate(jobOf(request, gateway), signal)) {
      if (event.kind === 'end') return event.reason;
      await this.#take(event);
    }
    // Engines may end an aborted job without a word.
    signal.throwIfAborted();
    throw new Error('the engine ended an answer without its end');
  }

  async #take(event: Exclude<JobEvent, { readonly kind: 'end' }>): Promise<void> {
    const { request, send } = this.#given;
    if (event.kind === 'begin') {
      // A slot may hold given tokens too, of the same answer made before; what is told is of the prompt.
      this.#cachedTokens = Math.min(event.cachedTokens, request.prompt.length);
      return send({ kind: 'begin', id: request.id, cachedTokens: this.#cachedTokens });
    }
    this.phase = 'writing';
    // Waited for with a token in hand: the end of an answer needs no credit, and there may be no more to come.
    if (this.#credit.isSpent) await this.#moreCredit();
    this.#firstTokenAtMs ||= Math.max(this.#deps.nowMs(), this.#startedAtMs);
    this.#credit.spend();
    this.#chain.push(event.token);
    await this.#batch.push({
      ...{ token: event.token, text: event.bytes, logprob: event.logprob },
      top: (event.top ?? []).map(({ token, bytes, logprob }) => ({ token, text: bytes, logprob })),
    });
  }

  async #moreCredit(): Promise<void> {
    await this.#batch.flush();
    const { signal } = this.#stopping;
    const late = new RequestFailure('busy', `nothing was read for ${MAX_WAIT_MS / 1_000} s`);
    const waiting = new AbortController();
    const timer = setTimeout(() => waiting.abort(late), MAX_WAIT_MS);
    await this.#credit.some(AbortSignal.any([signal, waiting.signal])).finally(() => clearTimeout(timer));
  }

  async #finish(reason: SegmentReceipt['reason']): Promise<void> {
    const { request, gateway, bytes, send } = this.#given;
    const { model, receipts, fitness, worker, nowMs } = this.#deps;
    await this.#batch.flush();
    const receipt: SegmentReceipt = {
      version: 1,
      nonce: request.nonce,
      ...{ worker, gateway },
      modelSha256: request.modelSha256,
      promptSha256: tokensSha256(request.prompt),
      requestSha256: bytesSha256(bytes),
      from: request.given.length,
      to: this.#batch.end,
      chainHead: this.#chain.head,
      promptTokens: request.prompt.length,
      cachedTokens: this.#cachedTokens,
      reason,
      engine: model.engine.info.engine.slice(0, 100),
      startedAtMs: this.#startedAtMs,
      firstTokenAtMs: this.#firstTokenAtMs,
      // A clock that is set back does not make an answer end before it began.
      endedAtMs: Math.max(nowMs(), this.#firstTokenAtMs, this.#startedAtMs),
    };
    const signed = await fitness.keeping(() => receipts.keep(receipt));
    if (signed === undefined) throw new RequestFailure('protocol', 'there was a request with this nonce');
    await send({ kind: 'done', id: request.id, reason, ...signed });
  }

  async #fail(error: unknown): Promise<void> {
    if (this.#stopCause === 'gone') return;
    const { request, gateway, send } = this.#given;
    const failure =
      this.#stopCause === 'leaving' ? new RequestFailure('leaving', 'the worker is leaving') : failureOf(error);
    if (failure.code === 'engine-failed') this.#deps.logger.error({ err: error, gateway }, 'a request failed');
    else if (failure.cause) this.#deps.logger.error({ err: failure.cause, gateway }, failure.message);
    // The channel may be over: its owner sees that itself.
    await send({ kind: 'failed', id: request.id, code: failure.code, message: failure.message }).catch(() => {});
  }
}

/** Throws RequestFailure for what this model cannot answer. */
function checkRequest({ modelSha256, prompt, given }: FrameOf<'request'>, { engine }: LentModel): void {
  const { sha256, contextLength } = engine.info;
  if (modelSha256 !== sha256) throw new RequestFailure('unknown-model', 'this worker has no such model');
  if (prompt.length === 0) throw new RequestFailure('unusable', 'the prompt is empty');
  if (prompt.length + given.length >= contextLength)
    throw new RequestFailure('unusable', `prompt and answer have more tokens than the context, ${contextLength}`);
  checkTokens([prompt, given], engine.info.vocabularySize);
}

/** Throws RequestFailure for tokens that the vocabulary does not have. */
export function checkTokens(lists: readonly (readonly number[])[], vocabularySize: number): void {
  for (const tokens of lists)
    if (tokens.some((token) => token >= vocabularySize))
      throw new RequestFailure('unusable', 'a token is not of the vocabulary');
}

export function samplingOf({ logitBias, ...sampling }: FrameOf<'request'>['sampling']): Sampling {
  return { ...sampling, logitBias: new Map(logitBias.map(({ token, bias }) => [token, bias])) };
}

function jobOf(request: FrameOf<'request'>, gateway: string): Job {
  const { prompt, given, replay, maxTokens, sampling, grammar, cacheKey, topLogprobs } = request;
  return {
    ...{ prompt, given, replay, maxTokens, sampling: samplingOf(sampling) },
    ...(grammar === undefined ? {} : { grammar }),
    // Keys of two gateways may be called alike.
    ...(cacheKey === undefined ? {} : { cacheKey: `${gateway} ${cacheKey}` }),
    ...(topLogprobs === undefined ? {} : { topLogprobs }),
  };
}
