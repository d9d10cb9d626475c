// HTTP client for an upstream: our key, timeouts, redirects within the origin, and retries while there is no response.
import { setTimeout as sleep } from 'node:timers/promises';
import { context, propagation } from '@opentelemetry/api';
import { EngineError } from '../engine.ts';
import { retryAfterMs } from '../retry-after.ts';
import { Connections, type UpstreamResponse } from './connections.ts';
import { errorOf, failed, isOutOfCredit, readRefusal } from './errors.ts';
import { drain, type Opened, readText, stalled } from './response.ts';
import { ProtocolError } from './response-parser.ts';

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
  /** The beginnings of its requests. */
  readonly get: string;
  readonly post: string;
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
  readonly #connections: Connections;
  readonly #closing = new AbortController();
  readonly #targets = new Map<string, Target>();

  constructor(options: HttpOptions) {
    this.#options = options;
    this.#connections = new Connections(new URL(options.base));
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
    let isFresh = false;
    for (let tries = 0; ; ) {
      const outcome = await this.#try(this.#target(this.base + ask.path), ask, { isFresh });
      if ('response' in outcome) return outcome;
      // llama-server closes the connection after every stream without notice: that is not a failure, and needs no
      // delay.
      if (outcome.isStale) {
        isFresh = true;
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
      const outcome = await this.#try(this.#target(this.base.replace(/\/v1$/, '') + path), ask, FRESH);
      return 'response' in outcome ? JSON.parse(await this.text(outcome, ask)) : undefined;
    } catch {
      signal.throwIfAborted();
      return undefined;
    }
  }

  /** Whether a page of its root answers with success; rejects with the signal's reason. */
  async isHealthy(path: string, signal: AbortSignal): Promise<boolean> {
    const outcome = await this.#try(this.#target(this.base.replace(/\/v1$/, '') + path), { path, signal }, FRESH);
    if ('response' in outcome) drain(outcome.response);
    return 'response' in outcome;
  }

  /** The complete body. */
  text({ response }: Opened, { signal }: Pick<Ask, 'signal'>): Promise<string> {
    return readText(response, { maxBytes: JSON_BYTES, idleMs: this.#options.idleMs, signal });
  }

  #target(address: string): Target {
    const target = this.#targets.get(address) ?? this.#targetOf(new URL(address));
    this.#targets.set(address, target);
    return target;
  }

  async #try(target: Target, ask: Ask, use: ConnectionUse, redirects = 0): Promise<Opened | Failed> {
    const outcome = await this.#send(target, ask, use);
    if (!('response' in outcome)) return outcome;
    const { response } = outcome;
    const { status, headers } = response;
    if (status >= 200 && status < 300) return outcome;
    const location = headers.get('location');
    if (status < 300 || status >= 400 || location === undefined) return this.#refused(response, ask.signal);
    drain(response);
    const isKept = ask.body === undefined || status === 307 || status === 308;
    const next = this.#targetOf(redirected(target.url, location, { redirects, isKept }));
    return this.#try(next, ask, use, redirects + 1);
  }

  #targetOf(url: URL): Target {
    const { apiKey } = this.#options;
    const headers = [`host: ${url.host}`, 'accept-encoding: identity', 'user-agent: strata'];
    if (apiKey !== undefined) headers.push(`authorization: Bearer ${apiKey}`);
    const lines = headers.join('\r\n');
    const to = `${url.pathname}${url.search} HTTP/1.1\r\n${lines}\r\n`;
    return {
      url,
      get: `GET ${to}accept: application/json\r\n`,
      post: `POST ${to}accept: text/event-stream, application/json\r\ncontent-type: application/json\r\n`,
    };
  }

  /** Rejects with the signal's reason, or with EngineError if the server received the request but does not respond. */
  #send(target: Target, { body, waitMs, signal }: Ask, { isFresh }: ConnectionUse): Promise<Opened | Failed> {
    this.#closing.signal.throwIfAborted();
    signal.throwIfAborted();
    const { connectMs, firstTokenMs, idleMs } = this.#options;
    const text = body === undefined ? undefined : JSON.stringify(body);
    const length = text === undefined ? '' : `content-length: ${Buffer.byteLength(text)}\r\n`;
    const carrier = { lines: (text === undefined ? target.get : target.post) + (isFresh ? CLOSE : KEEP) + length };
    propagation.inject(context.active(), carrier, HEADER_LINES);
    const { promise, resolve, reject } = Promise.withResolvers<Opened | Failed>();
    const kept = isFresh ? undefined : this.#connections.takeIdle();
    const connection = kept ?? this.#connections.open();
    let response: UpstreamResponse | undefined;
    let timer: NodeJS.Timeout | undefined;
    let sentAt = 0;
    const destroyAfter = (ms: number, reason: (ms: number) => Error) => {
      clearTimeout(timer);
      timer = setTimeout(() => connection.destroy(reason(ms)), ms);
    };
    const abort = () => (response ?? connection).destroy();
    signal.addEventListener('abort', abort);
    if (!kept) destroyAfter(connectMs, (ms) => new Error(`no connection within ${ms} ms`));
    connection.send(`${carrier.lines}\r\n${text ?? ''}`, {
      isLast: isFresh,
      connected: () => {
        sentAt = performance.now();
        destroyAfter(text === undefined ? idleMs : (waitMs ?? firstTokenMs), stalled);
      },
      opened: (opened) => {
        clearTimeout(timer);
        response = opened;
        resolve({ response, sentAt });
      },
      failed: (error) => {
        if (signal.aborted) reject(signal.reason);
        else if (error instanceof EngineError) reject(error);
        else if (error instanceof ProtocolError) reject(failed('does not speak HTTP', error));
        else {
          const unreachable = failed(`is unreachable (${error.code ?? error.message})`, error, 'connect');
          resolve({ error: unreachable, isStale: kept !== undefined });
        }
      },
      over: () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
      },
    });
    return promise;
  }

  /** Throws an error that a retry would not change. */
  async #refused(response: UpstreamResponse, signal: AbortSignal): Promise<Failed> {
    const body = await readText(response, { maxBytes: REFUSAL_BYTES, idleMs: REFUSAL_MS, signal }).catch(() => '');
    signal.throwIfAborted();
    const { status, headers } = response;
    const ms = Number(headers.get('retry-after-ms') ?? Number.NaN);
    const refusal = readRefusal(body, {
      status,
      retryAfterMs: ms >= 0 ? ms : retryAfterMs(headers.get('retry-after'), Date.now()),
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
    // Also those in use.
    this.#connections[Symbol.dispose]();
  }
}

interface ConnectionUse {
  /** A connection of its own, which the server cannot have closed before. */
  readonly isFresh: boolean;
}

const FRESH: ConnectionUse = { isFresh: true };
const [KEEP, CLOSE] = ['connection: keep-alive\r\n', 'connection: close\r\n'];
const HEADER_LINES = {
  set(carrier: { lines: string }, name: string, value: string) {
    if (/^[\x20-\x7e]*$/.test(value)) carrier.lines += `${name}: ${value}\r\n`;
  },
};

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
