// Another server with the OpenAI-compatible API (llama-server, vLLM, Ollama and the like) as a source of answers.
import { randomBytes } from 'node:crypto';
import {
  type ChatDelta,
  type ChatRequest,
  CompletionError,
  type CompletionRequest,
  type Generation,
} from '@strata/inference';
import { Semaphore } from '@strata/limits';
import { EngineError } from '../engine.ts';
import { answerDeltas, type UpstreamUsage } from './answer.ts';
import { type HttpDeps, UpstreamHttp } from './client.ts';
import { type Embedded, embedAll } from './embeddings.ts';
import { streamEvents } from './exchange.ts';
import { describeUpstream, type UpstreamInfo } from './models.ts';
import { type ChatBodyOptions, chatBody, completionBody } from './request.ts';

export type { UpstreamUsage } from './answer.ts';
export type { Embedded } from './embeddings.ts';
export type { UpstreamInfo, UpstreamKind } from './models.ts';

export interface UpstreamOptions {
  /** Ends in /v1. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  /** The model's name on that server. */
  readonly model: string;
  /** Concurrent answers. */
  readonly slots: number;
  /** Where the server does not report it, or reports more than should be used. */
  readonly contextLength?: number;
  readonly connectMs?: number;
  /** Time to the first token; a long prompt takes long to read. */
  readonly firstTokenMs?: number;
  /** Between events. */
  readonly idleMs?: number;
  /** Of requests without a response. */
  readonly retries?: number;
}

export type UpstreamDeps = Partial<HttpDeps> & { readonly signal?: AbortSignal };

export interface AskDeps {
  readonly seed: number;
  /** Updated while the deltas are consumed. */
  readonly usage: UpstreamUsage;
  readonly signal: AbortSignal;
}

/**
 * One model of another server. As many answers run concurrently as it has slots; further requests wait in order of
 * arrival. A request is retried only before any part of its answer arrived. The client's errors are CompletionErrors
 * with the server's message; every other error is an EngineError `upstream-refused` (our configuration) or
 * `upstream-failed`. An aborted signal closes the connection at once and is thrown as its reason.
 */
export interface Upstream extends AsyncDisposable {
  readonly info: UpstreamInfo;
  /** One choice of an answer, as deltas from `begin` to `end`. Ending the iteration stops the server. */
  chat(request: ChatRequest, deps: AskDeps): AsyncIterable<ChatDelta>;
  /** The same for a prompt of plain text. */
  complete(request: CompletionRequest, deps: AskDeps & { readonly prompt: string }): AsyncIterable<ChatDelta>;
  /** Vectors of length 1, in the order of the inputs. */
  embed(inputs: readonly (string | readonly number[])[], signal: AbortSignal): Promise<Embedded>;
}

const CONNECT_MS = 5_000;
const FIRST_TOKEN_MS = 120_000;
const IDLE_MS = 30_000;
const RETRIES = 2;

/** Queries the server; rejects with EngineError `model-unusable` and a list of models if it does not have the model. */
export async function openUpstream(options: UpstreamOptions, deps: UpstreamDeps = {}): Promise<Upstream> {
  const { apiKey, model, slots, contextLength } = options;
  const http = new UpstreamHttp(
    {
      base: baseOf(options.baseUrl),
      apiKey: checkedKey(apiKey),
      connectMs: options.connectMs ?? CONNECT_MS,
      firstTokenMs: options.firstTokenMs ?? FIRST_TOKEN_MS,
      idleMs: options.idleMs ?? IDLE_MS,
      retries: options.retries ?? RETRIES,
    },
    { random: deps.random ?? Math.random, onRetry: deps.onRetry ?? (() => {}) },
  );
  try {
    const signal = deps.signal ?? new AbortController().signal;
    const info = await describeUpstream(http, { model, slots, contextLength, signal });
    return new OpenUpstream(http, info, options);
  } catch (error) {
    await http[Symbol.asyncDispose]();
    throw error;
  }
}

class OpenUpstream implements Upstream {
  readonly info: UpstreamInfo;
  readonly #http: UpstreamHttp;
  readonly #slots: Semaphore;
  readonly #secret: string | undefined;
  readonly #waits: { readonly firstMs: number; readonly idleMs: number };
  #lengthName: ChatBodyOptions['lengthName'] = 'max_tokens';

  constructor(http: UpstreamHttp, info: UpstreamInfo, { apiKey, firstTokenMs, idleMs }: UpstreamOptions) {
    this.info = info;
    this.#http = http;
    this.#slots = new Semaphore(info.slots);
    this.#secret = apiKey;
    this.#waits = { firstMs: firstTokenMs ?? FIRST_TOKEN_MS, idleMs: idleMs ?? IDLE_MS };
  }

  async *chat(request: ChatRequest, deps: AskDeps): AsyncGenerator<ChatDelta> {
    const isCallForced = request.toolChoice !== 'none' && request.toolChoice !== 'auto';
    const ask = (lengthName: ChatBodyOptions['lengthName']) => {
      const body = chatBody(request, { ...this.#common(deps), lengthName });
      return this.#answer({ path: '/chat/completions', body, isCallForced }, request, deps);
    };
    const lengthName = this.#lengthName;
    try {
      yield* ask(lengthName);
    } catch (error) {
      if (lengthName !== 'max_tokens' || !requiresNewLimitName(error)) throw error;
      this.#lengthName = 'max_completion_tokens';
      yield* ask(this.#lengthName);
    }
  }

  async *complete(
    request: CompletionRequest,
    { prompt, ...parts }: AskDeps & { readonly prompt: string },
  ): AsyncGenerator<ChatDelta> {
    const body = completionBody(request, { ...this.#common(parts), prompt });
    yield* this.#answer({ path: '/completions', body, isCallForced: false }, request, parts);
  }

  async embed(inputs: readonly (string | readonly number[])[], signal: AbortSignal): Promise<Embedded> {
    using _slot = await this.#slots.enter(signal);
    return await embedAll(this.#http, { model: this.info.name, inputs, signal });
  }

  async *#answer(
    { path, body, isCallForced }: { path: string; body: Record<string, unknown>; isCallForced: boolean },
    { stops, topLogprobs }: Generation,
    { usage, signal }: AskDeps,
  ): AsyncGenerator<ChatDelta> {
    using _slot = await this.#slots.enter(signal);
    const opened = await this.#http.open({ path, body, signal });
    const type = opened.response.headers['content-type'] ?? 'no content type';
    if (!/^text\/event-stream\b/i.test(type)) {
      opened.response.destroy();
      throw new EngineError('upstream-failed', `the upstream answered with ${type.slice(0, 64)} instead of a stream`);
    }
    const events = streamEvents(opened, { ...this.#waits, signal });
    try {
      yield* answerDeltas(events, { stops, topLogprobs, isCallForced, usage, newCallId, secret: this.#secret });
    } finally {
      await events.return(undefined);
    }
  }

  #common({ seed }: AskDeps) {
    return { model: this.info.name, kind: this.info.kind, seed };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#http[Symbol.asyncDispose]();
  }
}

/** Some newer models accept only the newer name of the token limit, and reject the request before they begin. */
function requiresNewLimitName(error: unknown): boolean {
  const isRefusal = error instanceof CompletionError && error.kind === 'invalid_request';
  return isRefusal && /\bmax_completion_tokens\b/.test(error.message);
}

function newCallId(): string {
  return `call_${randomBytes(12).toString('base64url')}`;
}

function baseOf(url: string): string {
  const parsed = URL.parse(url);
  if (
    !parsed ||
    !/^https?:$/.test(parsed.protocol) ||
    parsed.username ||
    parsed.password ||
    parsed.search ||
    parsed.hash
  )
    throw new EngineError('upstream-refused', 'the address of an upstream must be http(s)://host:port/v1');
  return parsed.href.replace(/\/+$/, '');
}

function checkedKey(key: string | undefined): string | undefined {
  if (key === undefined || /^[\x21-\x7e]+$/.test(key)) return key;
  throw new EngineError('upstream-refused', 'the key of an upstream must be printable ASCII without spaces');
}
