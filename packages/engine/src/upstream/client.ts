// HTTP client for an upstream: key, redirects, and retries while there is no response.

import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { context, propagation } from '@opentelemetry/api';
import type { CompletionError } from '@strata/inference';
import { EngineError } from '../engine.ts';
import { errorOf, isOutOfCredit, readRefusal } from './errors.ts';
import { drain, exchange, type Opened, readText } from './exchange.ts';

interface HttpOptions {
  /** Without a trailing slash. */
  readonly base: string;
  readonly apiKey: string | undefined;
  readonly connectMs: number;
  readonly firstTokenMs: number;
  readonly idleMs: number;
  readonly retries: number;
}

export interface HttpDeps {
  /** From 0 to 1. */
  readonly random: () => number;
  readonly onRetry: (event: { readonly detail: string; readonly waitMs: number }) => void;
}

export interface Ask {
  /** Relative to the base. */
  readonly path: string;
  /** Sent as JSON; without a body the request is a GET. */
  readonly body?: unknown;
  readonly signal: AbortSignal;
}

interface Failed {
  readonly kind: 'failed';
  readonly error: CompletionError | EngineError;
  /** A retry may succeed. */
  readonly isTransient: boolean;
  readonly retryAfterMs?: number | undefined;
  /** The keep-alive connection was closed by the server: not a fault of this request. */
  readonly isStale?: boolean;
}
type Outcome = ({ readonly kind: 'opened' } & Opened) | Failed;

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
  readonly #deps: HttpDeps;
  readonly #kept: http.Agent;
  /** Its connections are not reused. */
  readonly #fresh: http.Agent;
  readonly #closing = new AbortController();

  constructor(options: HttpOptions, deps: HttpDeps) {
    this.#options = options;
    this.#deps = deps;
    const { Agent } = options.base.startsWith('https:') ? https : http;
    this.#kept = new Agent({ keepAlive: true });
    this.#fresh = new Agent({ keepAlive: false });
  }

  get base(): string {
    return this.#options.base;
  }

  /** A successful response. Rejects with the mapped error, or with the signal's reason. */
  async open(ask: Ask): Promise<Opened> {
    let isFresh = false;
    for (let tries = 0; ; ) {
      const outcome = await this.#try(new URL(this.base + ask.path), { ...ask, isFresh });
      if (outcome.kind === 'opened') return outcome;
      // llama-server closes the connection after every stream without notice: that is not a failure, and needs no
      // delay.
      if (outcome.isStale && !isFresh) {
        isFresh = true;
        continue;
      }
      const waitMs = tries < this.#options.retries && outcome.isTransient ? this.#pauseMs(tries, outcome) : undefined;
      if (waitMs === undefined) throw outcome.error;
      tries += 1;
      this.#deps.onRetry({ detail: outcome.error.message, waitMs });
      await this.#pause(waitMs, ask.signal);
    }
  }

  async json(ask: Ask): Promise<unknown> {
    const { response } = await this.open(ask);
    const text = await readText(response, { maxBytes: JSON_BYTES, idleMs: this.#options.idleMs, signal: ask.signal });
    try {
      return JSON.parse(text);
    } catch {
      throw new EngineError('upstream-failed', `the upstream's response to ${ask.path} is not JSON`);
    }
  }

  /** Server-specific information outside the API, below the server's root; undefined if not available. */
  async serverInfo(path: string, signal: AbortSignal): Promise<unknown> {
    const url = new URL(this.base.replace(/\/v1$/, '') + path);
    try {
      // There is no retry, so do not use a connection that the server may be closing.
      const outcome = await this.#try(url, { path, signal, isFresh: true });
      if (outcome.kind === 'failed') return undefined;
      return JSON.parse(
        await readText(outcome.response, { maxBytes: JSON_BYTES, idleMs: this.#options.idleMs, signal }),
      );
    } catch {
      signal.throwIfAborted();
      return undefined;
    }
  }

  async #try(url: URL, ask: Ask & { readonly isFresh?: boolean }, redirects = 0): Promise<Outcome> {
    if (this.#closing.signal.aborted) throw this.#closing.signal.reason;
    const { body, signal, isFresh = false } = ask;
    const { apiKey, connectMs, firstTokenMs, idleMs } = this.#options;
    const text = body === undefined ? undefined : JSON.stringify(body);
    const traced: Record<string, string> = {};
    propagation.inject(context.active(), traced);
    const exchanged = await exchange({
      url,
      headers: {
        ...traced,
        accept: text === undefined ? 'application/json' : 'text/event-stream, application/json',
        'accept-encoding': 'identity',
        'user-agent': 'strata',
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
        ...(text === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }),
      },
      body: text,
      agent: isFresh ? this.#fresh : this.#kept,
      connectMs,
      answerMs: text === undefined ? idleMs : firstTokenMs,
      signal,
    });
    if (exchanged.kind === 'unreachable')
      return { kind: 'failed', error: exchanged.error, isTransient: true, isStale: exchanged.isStale };
    const { response } = exchanged;
    const status = response.statusCode ?? 0;
    if (status >= 200 && status < 300) return exchanged;
    const { location } = response.headers;
    if (status >= 300 && status < 400 && location !== undefined) {
      drain(response);
      const to = redirected(url, { location, status, redirects, isPost: text !== undefined });
      return this.#try(to, ask, redirects + 1);
    }
    return this.#refused(response, signal);
  }

  async #refused(response: IncomingMessage, signal: AbortSignal): Promise<Failed> {
    const body = await readText(response, { maxBytes: REFUSAL_BYTES, idleMs: REFUSAL_MS, signal }).catch(() => '');
    signal.throwIfAborted();
    const refusal = readRefusal({
      status: response.statusCode ?? 0,
      body,
      retryAfterMs: retryAfterMs(response),
      secret: this.#options.apiKey,
    });
    const isTransient = PASSING.has(refusal.status) && !isOutOfCredit(refusal);
    return { kind: 'failed', error: errorOf(refusal), isTransient, retryAfterMs: refusal.retryAfterMs };
  }

  /** Doubled with every try, with jitter; undefined: do not retry. */
  #pauseMs(tries: number, { retryAfterMs: requested }: Failed): number | undefined {
    const random = this.#deps.random();
    if (requested === undefined) return Math.min(FIRST_PAUSE_MS * 2 ** tries, MAX_PAUSE_MS) * (0.5 + random / 2);
    return requested > MAX_WAIT_MS ? undefined : requested * (1 + random / 10);
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    const either = AbortSignal.any([signal, this.#closing.signal]);
    await sleep(ms, undefined, { signal: either }).catch(() => {
      throw either.reason;
    });
  }

  /** Aborts everything in progress. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new EngineError('upstream-failed', 'the upstream was closed'));
    // Also connections in use.
    this.#kept.destroy();
    this.#fresh.destroy();
  }
}

/** Redirects are followed within the origin only; our key and the client's text are not sent elsewhere. */
function redirected(
  from: URL,
  { location, status, redirects, isPost }: { location: string; status: number; redirects: number; isPost: boolean },
): URL {
  const refuse = (what: string) => new EngineError('upstream-refused', `the upstream redirects ${what}`);
  const to = URL.parse(location, from);
  if (!to) throw refuse('to an invalid address');
  if (to.origin !== from.origin) throw refuse(`to another origin (${to.origin})`);
  if (isPost && status !== 307 && status !== 308) throw refuse('a request without its body');
  if (redirects >= MAX_REDIRECTS) throw refuse('too many times');
  return to;
}

function retryAfterMs({ headers }: IncomingMessage): number | undefined {
  const ms = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (ms >= 0) return ms;
  const value = headers['retry-after'];
  if (value === undefined) return undefined;
  const waitMs = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isNaN(waitMs) ? undefined : Math.max(0, waitMs);
}
