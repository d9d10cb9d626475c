// Serves one request of a gateway: waits for a slot, streams tokens, and ends with a signed receipt.
import { propagation, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import type { Engine, Job, JobEvent, ModelInfo } from '@strata/engine';
import {
  bytesSha256,
  type Frame,
  type FrameOf,
  needsOf,
  type Sampling,
  type SegmentReceipt,
  TokenChain,
  tokensSha256,
} from '@strata/inference';
import type { FairSlots, RateLimiter } from '@strata/limits';
import type { Logger } from 'pino';
import type { ContributedModel } from '../contributed-model.ts';
import type { Receipts } from '../store/receipts.ts';
import { failureOf, RequestFailure } from './failure.ts';
import type { Fitness } from './fitness.ts';
import type { Grammars } from './grammars.ts';
import { TokenSender } from './token-sender.ts';

/** The dependencies that all requests share. */
export interface RequestDeps {
  /** Peer id of this worker. */
  readonly worker: string;
  readonly models: readonly ContributedModel[];
  readonly slots: FairSlots;
  readonly receipts: Receipts;
  readonly grammars: Grammars;
  readonly fitness: Fitness;
  /** Chunks of the model file, by gateway. */
  readonly chunkLimit: Pick<RateLimiter, 'take'>;
  readonly logger: Logger;
  readonly nowMs: () => number;
}

export interface GivenRequest {
  readonly request: FrameOf<'request'>;
  /** The frame as received. */
  readonly bytes: Uint8Array;
  /** Peer id. */
  readonly gateway: string;
  readonly send: (frame: Frame) => Promise<void>;
}

/**
 * `disconnected`: there is no gateway to reply to. `leaving`: the gateway gets the request back, to continue on another
 * worker.
 */
export type StopCause = 'cancelled' | 'disconnected' | 'leaving';

const tracer = trace.getTracer('strata-worker');

export class RequestRun {
  phase: 'waiting' | 'reading' | 'writing' = 'waiting';
  readonly #given: GivenRequest;
  readonly #deps: RequestDeps;
  readonly #stopping = new AbortController();
  readonly #sender: TokenSender;
  readonly #chain: TokenChain;
  readonly #startedAtMs: number;
  #stopCause: StopCause | undefined;
  #firstTokenAtMs = 0;
  #cachedTokens = 0;
  /** Empty if it was cancelled before it had a slot. */
  #engine = '';

  constructor(given: GivenRequest, deps: RequestDeps) {
    const { request, send } = given;
    const { id, nonce, modelSha256 } = request;
    this.#given = given;
    this.#deps = deps;
    this.#startedAtMs = deps.nowMs();
    const from = request.given.length;
    this.#sender = new TokenSender({
      ...{ from, credit: request.credit },
      send: (tokens, position) => send({ kind: 'tokens', id, position, tokens }),
    });
    this.#chain = new TokenChain({ nonce, modelSha256, promptSha256: tokensSha256(request.prompt), from });
  }

  grant(tokens: number): void {
    this.#sender.grant(tokens);
  }

  /** The first cause takes precedence. */
  stop(cause: StopCause): void {
    this.#stopCause ??= cause;
    this.#stopping.abort(new Error(`the request is ${cause}`));
  }

  /** Resolves when the end was sent to the gateway; never rejects. */
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
      this.#sender.drop();
      await this.#fail(error);
    }
  }

  async #answer(): Promise<'stop' | 'length'> {
    const { request, gateway } = this.#given;
    const { models, slots, receipts, grammars, fitness } = this.#deps;
    const { engine } = modelWith(models, request.modelSha256);
    checkRequest(request, engine.info);
    const failure = fitness.failure();
    if (failure) throw failure;
    if (receipts.isRefused(gateway))
      throw new RequestFailure('busy', 'this gateway has too many receipts without an agreement');
    if (!receipts.claim(request.nonce))
      throw new RequestFailure('protocol', 'a request with this nonce already exists');
    using _slot = await slots.enter(gateway, this.#stopping.signal);
    this.#engine = engine.info.engine;
    // With its model loaded, an engine that does not begin is late.
    if (engine.isLoaded === undefined) this.phase = 'reading';
    // Awaited here, because the slot is released at the end of this function.
    return await grammars.guard(gateway, request.grammar, () => this.#generate(engine));
  }

  async #generate(engine: Engine): Promise<'stop' | 'length'> {
    const { request, gateway } = this.#given;
    const { signal } = this.#stopping;
    for await (const event of engine.generate(jobOf(request, gateway), signal)) {
      if (event.kind === 'end') return event.reason;
      await this.#take(event);
    }
    // Engines may end an aborted job without an error.
    signal.throwIfAborted();
    throw new Error('the engine stopped without an end event');
  }

  async #take(event: Exclude<JobEvent, { readonly kind: 'end' }>): Promise<void> {
    const { request, send } = this.#given;
    if (event.kind === 'begin') {
      // Until then it may wait for its model to be loaded.
      this.phase = 'reading';
      // The cache may contain given tokens too, from the same answer; only prompt tokens are reported.
      this.#cachedTokens = Math.min(event.cachedTokens, request.prompt.length);
      return send({ kind: 'begin', id: request.id, cachedTokens: this.#cachedTokens });
    }
    this.phase = 'writing';
    // The credit is awaited when there is a token to send: the end of an answer needs no credit, and this may be the last token.
    await this.#sender.untilCredit(this.#stopping.signal);
    this.#firstTokenAtMs ||= Math.max(this.#deps.nowMs(), this.#startedAtMs);
    this.#chain.push(event.token);
    await this.#sender.push({
      ...{ token: event.token, text: event.bytes, logprob: event.logprob },
      top: (event.top ?? []).map(({ token, bytes, logprob }) => ({ token, text: bytes, logprob })),
    });
  }

  async #finish(reason: SegmentReceipt['reason']): Promise<void> {
    const { request, gateway, bytes, send } = this.#given;
    const { receipts, fitness, worker, nowMs } = this.#deps;
    await this.#sender.flush();
    const receipt: SegmentReceipt = {
      version: 1,
      nonce: request.nonce,
      ...{ worker, gateway },
      modelSha256: request.modelSha256,
      promptSha256: tokensSha256(request.prompt),
      requestSha256: bytesSha256(bytes),
      from: request.given.length,
      to: this.#sender.end,
      chainHead: this.#chain.head,
      promptTokens: request.prompt.length,
      cachedTokens: this.#cachedTokens,
      reason,
      engine: this.#engine.slice(0, 100),
      startedAtMs: this.#startedAtMs,
      firstTokenAtMs: this.#firstTokenAtMs,
      // If the clock is set back, the answer must not end before it started.
      endedAtMs: Math.max(nowMs(), this.#firstTokenAtMs, this.#startedAtMs),
    };
    const signed = await fitness.keeping(() => receipts.keep(receipt));
    if (signed === undefined) throw new RequestFailure('protocol', 'a request with this nonce already exists');
    await send({ kind: 'done', id: request.id, reason, ...signed });
  }

  async #fail(error: unknown): Promise<void> {
    if (this.#stopCause === 'disconnected') return;
    const { request, gateway, send } = this.#given;
    const failure =
      this.#stopCause === 'leaving' ? new RequestFailure('leaving', 'the worker is leaving') : failureOf(error);
    if (failure.code === 'engine-failed') this.#deps.logger.error({ err: error, gateway }, 'a request failed');
    else if (failure.cause) this.#deps.logger.error({ err: failure.cause, gateway }, failure.message);
    // A closed channel is noticed by its owner.
    await send({ kind: 'failed', id: request.id, code: failure.code, message: failure.message }).catch(() => {});
  }
}

/** Throws RequestFailure if this worker does not have the model. */
export function modelWith(models: readonly ContributedModel[], sha256: string): ContributedModel {
  const model = models.find(({ engine }) => engine.info.sha256 === sha256);
  if (!model) throw new RequestFailure('unknown-model', 'this worker does not have this model');
  return model;
}

/** Throws RequestFailure for a request that this model cannot serve. */
function checkRequest(request: FrameOf<'request'>, { contextLength, vocabularySize, lacks }: ModelInfo): void {
  const { prompt, given } = request;
  const lacking = needsOf(request).find((need) => lacks?.includes(need));
  if (lacking) throw new RequestFailure('unusable', `the engine of this worker lacks ${lacking}`);
  if (prompt.length === 0) throw new RequestFailure('unusable', 'the prompt is empty');
  if (prompt.length + given.length >= contextLength)
    throw new RequestFailure('unusable', `prompt and answer exceed the context of ${contextLength} tokens`);
  checkTokens([prompt, given], vocabularySize);
}

/** Throws RequestFailure for tokens outside the vocabulary. */
export function checkTokens(lists: readonly (readonly number[])[], vocabularySize: number): void {
  for (const tokens of lists)
    if (tokens.some((token) => token >= vocabularySize))
      throw new RequestFailure('unusable', 'a token is outside the vocabulary');
}

export function samplingOf({ logitBias, ...sampling }: FrameOf<'request'>['sampling']): Sampling {
  return { ...sampling, logitBias: new Map(logitBias.map(({ token, bias }) => [token, bias])) };
}

function jobOf(request: FrameOf<'request'>, gateway: string): Job {
  const { prompt, given, replay, maxTokens, sampling, grammar, cacheKey, topLogprobs } = request;
  return {
    ...{ prompt, given, replay, maxTokens, sampling: samplingOf(sampling) },
    ...(grammar === undefined ? {} : { grammar }),
    // Two gateways may use the same key.
    ...(cacheKey === undefined ? {} : { cacheKey: `${gateway} ${cacheKey}` }),
    ...(topLogprobs === undefined ? {} : { topLogprobs }),
  };
}
