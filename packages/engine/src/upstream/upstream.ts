// Another server with the OpenAI-compatible API (llama-server, vLLM, Ollama and the like) as a source of answers.
import { randomBytes } from 'node:crypto';
import {
  type ChatDelta,
  type ChatRequest,
  CompletionError,
  type CompletionRequest,
  callableTools,
} from '@strata/inference';
import { Semaphore } from '@strata/limits';
import { EngineError } from '../engine.ts';
import { AnswerDeltas, type AnswerOptions } from './answer.ts';
import type { UpstreamUsage } from './chunks.ts';
import { type Embedded, embedAll } from './embeddings.ts';
import { failed, UpstreamError } from './errors.ts';
import { type HttpOptions, UpstreamHttp } from './http.ts';
import { describeUpstream, type UpstreamInfo } from './models.ts';
import { UpstreamPages } from './pages.ts';
import { type ChatBodyOptions, chatBody, completionBody } from './request.ts';
import { AnswerEvents, type Opened, type StreamEvent } from './response.ts';

export type { UpstreamUsage } from './chunks.ts';
export type { Embedded } from './embeddings.ts';
export type { UpstreamInfo, UpstreamKind } from './models.ts';

const TIMING = {
  connectMs: 5_000,
  /** A long prompt takes long to read. */
  firstTokenMs: 120_000,
  /** Between events. */
  idleMs: 30_000,
  /** Of requests without a response. */
  retries: 2,
};

export interface UpstreamOptions extends Partial<typeof TIMING> {
  /** Ends in /v1. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  /** The model's name on that server. */
  readonly model: string;
  /** Concurrent answers. */
  readonly slots: number;
  /** Where the server does not report it, or reports more than should be used. */
  readonly contextLength?: number;
}

export type UpstreamDeps = Partial<Pick<HttpOptions, 'random' | 'onRetry'>> & {
  readonly signal?: AbortSignal | undefined;
  /** Of this server, shared with its other models. */
  readonly pages?: UpstreamPages | undefined;
};

export interface AskDeps {
  readonly seed: number;
  /** Updated while the deltas are consumed. */
  readonly usage: UpstreamUsage;
  /** Nothing is sent before the answer is complete: a quick server is not asked to stream it, which costs both sides more. */
  readonly isGathered?: boolean;
  readonly signal: AbortSignal;
}

/** Servers are asked to stream for so long after an answer that took longer than `QUICK_MS`. */
const STREAMED_MS = 600_000;
const QUICK_MS = 10_000;
/**
 * An answer that is not there after this time is asked for again as a stream: in a stream a server shows that it works, and no
 * proxy in between closes the connection because it is silent.
 */
const COMPLETE_MS = 30_000;

/** Queries the server; rejects with EngineError `model-unusable` and a list of models if it does not have the model. */
export async function openUpstream(options: UpstreamOptions, deps: UpstreamDeps = {}): Promise<Upstream> {
  const http = {
    ...TIMING,
    ...options,
    base: baseOf(options.baseUrl),
    apiKey: checkedKey(options.apiKey),
    random: deps.random ?? Math.random,
    onRetry: deps.onRetry ?? (() => {}),
  };
  await using stack = new AsyncDisposableStack();
  const client = stack.use(new UpstreamHttp(http));
  const { signal = new AbortController().signal, pages = new UpstreamPages() } = deps;
  const info = await describeUpstream(client, options, { signal, pages });
  stack.move();
  return new Upstream(client, info, http);
}

/**
 * One model of another server. As many answers run concurrently as it has slots; further requests wait in order of
 * arrival. A request is retried only before any part of its answer arrived. The client's errors are CompletionErrors
 * with the server's message; every other error is an EngineError `upstream-refused` (our configuration) or
 * `upstream-failed`. An aborted signal closes the connection at once and is thrown as its reason.
 */
export class Upstream implements AsyncDisposable {
  readonly info: UpstreamInfo;
  readonly #http: UpstreamHttp;
  readonly #slots: Semaphore;
  readonly #options: HttpOptions;
  #lengthName: ChatBodyOptions['lengthName'] = 'max_tokens';
  /** When an answer last took longer than `QUICK_MS`; undefined before the first answer. */
  #slowAtMs: number | undefined;

  constructor(http: UpstreamHttp, info: UpstreamInfo, options: HttpOptions) {
    this.info = info;
    this.#http = http;
    this.#slots = new Semaphore(info.slots);
    this.#options = options;
  }

  /**
   * One choice of an answer, as deltas from `begin` to `end`, as many at a time as arrive together. Ending the iteration
   * stops the server.
   */
  chat(request: ChatRequest, deps: AskDeps): AsyncGenerator<readonly ChatDelta[]> {
    return this.#answer(
      () => this.#chatEvents(request, deps),
      { ...request, isCallForced: callableTools(request).isCallForced },
      deps,
    );
  }

  /** The same for a prompt of plain text. */
  complete(
    request: CompletionRequest,
    deps: AskDeps & { readonly prompt: string },
  ): AsyncGenerator<readonly ChatDelta[]> {
    const body = completionBody(request, { ...this.info, seed: deps.seed, prompt: deps.prompt });
    const events = async () =>
      this.#stream(await this.#http.open({ path: '/completions', body, signal: deps.signal }), deps);
    return this.#answer(events, { ...request, isCallForced: false }, deps);
  }

  /** Vectors of length 1, in the order of the inputs. */
  async embed(inputs: readonly (string | readonly number[])[], signal: AbortSignal): Promise<Embedded> {
    using _slot = await this.#slots.enter(signal);
    return await embedAll(this.#http, { model: this.info.name, inputs, signal });
  }

  async *#answer(
    open: () => Promise<AsyncIterator<readonly StreamEvent[]>>,
    request: Pick<AnswerOptions, 'stops' | 'topLogprobs' | 'isCallForced' | 'keepsReasoning'>,
    { usage, signal }: AskDeps,
  ): AsyncGenerator<readonly ChatDelta[]> {
    using _slot = await this.#slots.enter(signal);
    const fromMs = performance.now();
    const events = await open();
    const { apiKey: secret } = this.#options;
    try {
      const answer = new AnswerDeltas(events, { ...request, usage, newCallId, secret });
      while (!answer.isEnded) {
        const deltas = await answer.next();
        if (deltas.length > 0) yield deltas;
      }
      const nowMs = performance.now();
      if (nowMs - fromMs > QUICK_MS) this.#slowAtMs = nowMs;
      this.#slowAtMs ??= Number.NEGATIVE_INFINITY;
    } finally {
      await events.return?.();
    }
  }

  /** Of a quick server, a complete answer as one event; if it takes long, a stream. */
  async #chatEvents(request: ChatRequest, deps: AskDeps): Promise<AsyncIterator<readonly StreamEvent[]>> {
    const isQuick = this.#slowAtMs !== undefined && performance.now() - this.#slowAtMs > STREAMED_MS;
    if (deps.isGathered && isQuick)
      try {
        const opened = await this.#openChat(request, deps, { isStreamed: false });
        if (isStream(opened)) return this.#stream(opened, deps);
        if (!/\bjson\b/i.test(typeOf(opened))) throw notA('JSON', opened);
        return oneEvent(await this.#http.text(opened, deps));
      } catch (error) {
        if (!(error instanceof UpstreamError && error.fault === 'timeout')) throw error;
        this.#slowAtMs = performance.now();
      }
    return this.#stream(await this.#openChat(request, deps, { isStreamed: true }), deps);
  }

  #openChat(
    request: ChatRequest,
    { seed, signal }: AskDeps,
    { isStreamed }: { readonly isStreamed: boolean },
  ): Promise<Opened> {
    const { name, kind } = this.info;
    const waitMs = isStreamed ? undefined : Math.min(COMPLETE_MS, this.#options.firstTokenMs);
    const open = () => {
      const body = chatBody(request, { name, kind, seed, lengthName: this.#lengthName, isStreamed });
      return this.#http.open({ path: '/chat/completions', body, waitMs, signal });
    };
    const lengthName = this.#lengthName;
    return open().catch((error: unknown) => {
      if (lengthName !== 'max_tokens' || !requiresNewLimitName(error)) throw error;
      this.#lengthName = 'max_completion_tokens';
      return open();
    });
  }

  #stream(opened: Opened, { signal }: Pick<AskDeps, 'signal'>): AsyncIterator<readonly StreamEvent[]> {
    if (!isStream(opened)) throw notA('a stream', opened);
    const { firstTokenMs: firstMs, idleMs } = this.#options;
    return new AnswerEvents(opened, { firstMs, idleMs, signal });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#http[Symbol.asyncDispose]();
  }
}

const typeOf = ({ response }: Opened): string => response.headers.get('content-type') ?? 'no content type';
const isStream = (opened: Opened): boolean => /^text\/event-stream\b/i.test(typeOf(opened));

function notA(expected: string, opened: Opened): EngineError {
  opened.response.destroy();
  return failed(`answered with ${typeOf(opened).slice(0, 64)} instead of ${expected}`);
}

function oneEvent(data: string): AsyncIterator<readonly StreamEvent[]> {
  const events = [
    { type: '', data },
    { type: '', data: '[DONE]' },
  ];
  return { next: async () => ({ value: events }) };
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
  const isPlain = parsed && /^https?:$/.test(parsed.protocol) && !parsed.username && !parsed.password;
  if (!isPlain || parsed.search || parsed.hash)
    throw new EngineError('upstream-refused', 'the address of an upstream must be http(s)://host:port/v1');
  return parsed.href.replace(/\/+$/, '');
}

function checkedKey(key: string | undefined): string | undefined {
  if (key === undefined || /^[\x21-\x7e]+$/.test(key)) return key;
  throw new EngineError('upstream-refused', 'the key of an upstream must be printable ASCII without spaces');
}
