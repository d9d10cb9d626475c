// HTTP client for an upstream: our key, timeouts, redirects within the origin, and retries while there is no response.
// Uses node:http instead of fetch: no web stream for each of thousands of streams, our own timeouts (fetch gives up after
// 300 s of prefill whatever we set), `destroy` closes the connection at once, and redirects are not followed silently.
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { urlToHttpOptions } from 'node:url';
import { context, propagation } from '@opentelemetry/api';
import { EngineError } from '../engine.ts';
import { retryAfterMs } from '../retry-after.ts';
import { errorOf, failed, isOutOfCredit, readRefusal } from './errors.ts';
import { drain, type Opened, readText, stalled } from './response.ts';

export interface HttpOptions {
  /** Without a trailing slash. */
  readonly base: string;
  readonly apiKey: string | undefined;
  readonly connectMs: number;
  /** From the connection to the response headers of a POST. */
  readonly firstTokenMs: number;
  readonly idleMs: number;
  readonly retries: number;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly onRetry: (event: { readonly detail: string; readonly waitMs: number }) => void;
}

export interface Ask {
  /** Relative to the base. */
  readonly path: string;
  /** Sent as JSON; without a body the request is a GET. */
  readonly body?: unknown;
  /** For the response headers of a POST; `firstTokenMs` by default. */
  readonly waitMs?: number | undefined;
  readonly signal: AbortSignal;
}

/** An address, parsed once: there are few paths. */
interface Target {
  readonly url: URL;
  readonly options: http.RequestOptions;
}

/** No answer, and a retry may succeed. */
interface Failed {
  readonly error: Error;
  readonly retryAfterMs?: number | undefined;
  /** On an idle keep-alive connection, which the server may close at any time: not a fault of this request. */
  readonly isStale?: boolean;
}

const PASSING = new Set([429, 502, 503, 504]);
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5_000;
/** If the server asks for a longer wait, the error goes to the caller. */
const MAX_WAIT_MS = 10_000;
const MAX_REDIRECTS = 3;
const REFUSAL_BYTES = 64 * 1024;
const REFUSAL_MS = 5_000;
/** Two thousand models, or 64 vectors of 16,384 numbers. */
const JSON_BYTES = 64 * 1024 * 1024;

export class UpstreamHttp implements AsyncDisposable {
  readonly #options: HttpOptions;
  readonly #kept: http.Agent;
  /** Its connections are not reused. */
  readonly #fresh: http.Agent;
  readonly #closing = new AbortController();
  readonly #targets = new Map<string, Target>();

  constructor(options: HttpOptions) {
    this.#options = options;
    const { Agent } = options.base.startsWith('https:') ? https : http;
    this.#kept = new Agent({ keepAlive: true });
    this.#fresh = new Agent({ keepAlive: false });
    // Agents name connections by all their options; these have one origin.
    for (const agent of [this.#kept, this.#fresh]) agent.getName = () => 'upstream';
  }

  get base(): string {
    return this.#options.base;
  }

  /** The key, which is removed from the server's messages. */
  get secret(): string | undefined {
    return this.#options.apiKey;
  }

  /** A successful response. Rejects with the mapped error, or with the signal's reason. */
  async open(ask: Ask): Promise<Opened> {
    let agent = this.#kept;
    for (let tries = 0; ; ) {
      const outcome = await this.#try(this.#target(this.base + ask.path), ask, agent);
      if ('response' in outcome) return outcome;
      // llama-server closes the connection after every stream without notice: that is not a failure, and needs no
      // delay.
      if (outcome.isStale && agent === this.#kept) {
        agent = this.#fresh;
        continue;
      }
      const waitMs = tries < this.#options.retries ? this.#pauseMs(tries, outcome) : undefined;
      if (waitMs === undefined) throw outcome.error;
      tries += 1;
      this.#options.onRetry({ detail: outcome.error.message, waitMs });
      const either = AbortSignal.any([ask.signal, this.#closing.signal]);
      await sleep(waitMs, undefined, { signal: either }).catch(() => either.throwIfAborted());
    }
  }

  async json(ask: Ask): Promise<unknown> {
    const text = await this.text(await this.open(ask), ask);
    try {
      return JSON.parse(text);
    } catch {
      throw new EngineError('upstream-failed', `the upstream's response to ${ask.path} is not JSON`);
    }
  }

  /** Server-specific information outside the API, below the server's root; undefined if not available. */
  async serverInfo(path: string, signal: AbortSignal): Promise<unknown> {
    const ask = { path, signal };
    try {
      // There is no retry, so do not use a connection that the server may be closing.
      const outcome = await this.#try(this.#target(this.base.replace(/\/v1$/, '') + path), ask, this.#fresh);
      return 'response' in outcome ? JSON.parse(await this.text(outcome, ask)) : undefined;
    } catch {
      signal.throwIfAborted();
      return undefined;
    }
  }

  /** Whether a page of its root answers with success; rejects with the signal's reason. */
  async isHealthy(path: string, signal: AbortSignal): Promise<boolean> {
    const outcome = await this.#try(this.#target(this.base.replace(/\/v1$/, '') + path), { path, signal }, this.#fresh);
    if ('response' in outcome) drain(outcome.response);
    return 'response' in outcome;
  }

  /** The complete body. */
  text({ response }: Opened, { signal }: Pick<Ask, 'signal'>): Promise<string> {
    return readText(response, { maxBytes: JSON_BYTES, idleMs: this.#options.idleMs, signal });
  }

  #target(address: string): Target {
    const target = this.#targets.get(address) ?? targetOf(new URL(address));
    this.#targets.set(address, target);
    return target;
  }

  async #try(target: Target, ask: Ask, agent: http.Agent, redirects = 0): Promise<Opened | Failed> {
    const outcome = await this.#send(target, ask, agent);
    if (!('response' in outcome)) return outcome;
    const { response } = outcome;
    const { statusCode: status = 0, headers } = response;
    if (status >= 200 && status < 300) return outcome;
    if (status < 300 || status >= 400 || headers.location === undefined) return this.#refused(response, ask.signal);
    drain(response);
    const isKept = ask.body === undefined || status === 307 || status === 308;
    const next = targetOf(redirected(target.url, headers.location, { redirects, isKept }));
    return this.#try(next, ask, agent, redirects + 1);
  }

  /** Rejects with the signal's reason, or with EngineError if the server received the request but does not respond. */
  #send({ url, options }: Target, { body, waitMs, signal }: Ask, agent: http.Agent): Promise<Opened | Failed> {
    this.#closing.signal.throwIfAborted();
    signal.throwIfAborted();
    const { apiKey, connectMs, firstTokenMs, idleMs } = this.#options;
    const text = body === undefined ? undefined : JSON.stringify(body);
    // A list, which Node writes as it is.
    const headers = ['host', url.host, 'accept-encoding', 'identity', 'user-agent', 'strata'];
    if (apiKey !== undefined) headers.push('authorization', `Bearer ${apiKey}`);
    if (text === undefined) headers.push('accept', 'application/json');
    else headers.push('accept', STREAM_OR_JSON, 'content-type', 'application/json');
    if (text !== undefined) headers.push('content-length', String(Buffer.byteLength(text)));
    propagation.inject(context.active(), headers, HEADER_LIST);
    const { promise, resolve, reject } = Promise.withResolvers<Opened | Failed>();
    const module = url.protocol === 'https:' ? https : http;
    const request = module.request({ ...options, method: text === undefined ? 'GET' : 'POST', agent, headers });
    let response: IncomingMessage | undefined;
    let timer: NodeJS.Timeout | undefined;
    let sentAt = performance.now();
    const destroyAfter = (ms: number, reason: (ms: number) => Error) => {
      clearTimeout(timer);
      timer = setTimeout(() => request.destroy(reason(ms)), ms);
    };
    const connected = () => {
      sentAt = performance.now();
      destroyAfter(text === undefined ? idleMs : (waitMs ?? firstTokenMs), stalled);
    };
    const abort = () => (response ?? request).destroy();
    signal.addEventListener('abort', abort);
    // `on` costs less than `once`; these happen once.
    if (request.reusedSocket) connected();
    else
      request.on('socket', (socket) => {
        destroyAfter(connectMs, (ms) => new Error(`no connection within ${ms} ms`));
        socket.once(module === https ? 'secureConnect' : 'connect', connected);
      });
    request.on('response', (opened) => {
      clearTimeout(timer);
      response = opened;
      resolve({ response, sentAt });
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (signal.aborted) reject(signal.reason);
      else if (error instanceof EngineError) reject(error);
      else if (error.code?.startsWith('HPE_')) reject(failed('does not speak HTTP', error));
      else {
        const unreachable = failed(`is unreachable (${error.code ?? error.message})`, error, 'connect');
        resolve({ error: unreachable, isStale: request.reusedSocket });
      }
    });
    request.on('close', () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    });
    request.end(text);
    return promise;
  }

  /** Throws an error that a retry would not change. */
  async #refused(response: IncomingMessage, signal: AbortSignal): Promise<Failed> {
    const body = await readText(response, { maxBytes: REFUSAL_BYTES, idleMs: REFUSAL_MS, signal }).catch(() => '');
    signal.throwIfAborted();
    const { statusCode: status = 0, headers } = response;
    const ms = Number(headers['retry-after-ms'] ?? Number.NaN);
    const refusal = readRefusal(body, {
      status,
      retryAfterMs: ms >= 0 ? ms : retryAfterMs(headers['retry-after'], Date.now()),
      secret: this.#options.apiKey,
    });
    const error = errorOf(refusal);
    if (PASSING.has(status) && !isOutOfCredit(refusal)) return { error, retryAfterMs: refusal.retryAfterMs };
    throw error;
  }

  /** Doubled with every try, with jitter; undefined: do not retry. */
  #pauseMs(tries: number, { retryAfterMs: requested }: Failed): number | undefined {
    const random = this.#options.random();
    if (requested === undefined) return Math.min(FIRST_PAUSE_MS * 2 ** tries, MAX_PAUSE_MS) * (0.5 + random / 2);
    return requested > MAX_WAIT_MS ? undefined : requested * (1 + random / 10);
  }

  /** Aborts everything in progress. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new EngineError('upstream-failed', 'the upstream was closed'));
    // Also connections in use.
    this.#kept.destroy();
    this.#fresh.destroy();
  }
}

/** Node copies the options several times for every request: only what it needs. */
function targetOf(url: URL): Target {
  const { hostname, port, path } = urlToHttpOptions(url);
  return { url, options: { hostname, port, path } };
}

const STREAM_OR_JSON = 'text/event-stream, application/json';
const HEADER_LIST = { set: (list: string[], name: string, value: string) => void list.push(name, value) };

/** Redirects are followed within the origin only; our key and the client's text are not sent elsewhere. */
function redirected(
  from: URL,
  location: string,
  { redirects, isKept }: { readonly redirects: number /** The method and the body. */; readonly isKept: boolean },
): URL {
  const refuse = (what: string) => new EngineError('upstream-refused', `the upstream redirects ${what}`);
  const to = URL.parse(location, from);
  if (!to) throw refuse('to an invalid address');
  if (to.origin !== from.origin) throw refuse(`to another origin (${to.origin})`);
  if (!isKept) throw refuse('a request without its body');
  if (redirects >= MAX_REDIRECTS) throw refuse('too many times');
  return to;
}
