// The server of the gateway: Bearer keys and their limits, the bodies of requests, and OpenAI's error format.
import {
  addLedgerRoutes,
  createHttpServer,
  type HttpServer,
  type HttpServerOptions,
  parseInput,
  type Responder,
} from '@strata/http';
import { CompletionError } from '@strata/inference';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Authentication, OpenCaller } from '../limits/authentication.ts';
import type { GatewayKey } from '../store/access/policy.ts';
import { BODY_BYTES, errorFormat, tooManyAnswers } from './error-response.ts';
import { routes } from './index.ts';
import { acceptJson } from './json-bodies.ts';
import type { Exchange, GatewayApp, Route } from './route.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The authenticated key; only set for routes that require one. */
    caller: GatewayKey;
    /** Aborts when that key is revoked; only set for requests that may take long. */
    revoked: AbortSignal;
  }
}

export interface GatewayServerDeps
  extends Pick<
    HttpServerOptions,
    'logger' | 'metrics' | 'trustedProxies' | 'hostGuard' | 'limits' | 'onStopping' | 'onLate' | 'shutdownMs'
  > {
  readonly app: GatewayApp;
  readonly authentication: Authentication;
}

/** Request headers that pages of other sites may send (Fetch standard, CORS). */
const ALLOWED_HEADERS = [
  ...['authorization', 'content-type', 'x-request-id', 'last-event-id'],
  ...['openai-organization', 'openai-project'],
  ...[
    'x-stainless-arch',
    'x-stainless-lang',
    'x-stainless-os',
    'x-stainless-package-version',
    'x-stainless-retry-count',
  ],
  ...['x-stainless-runtime', 'x-stainless-runtime-version', 'x-stainless-timeout', 'x-stainless-helper-method'],
].join(', ');

/** Response headers that they may read. */
const EXPOSED_HEADERS = [
  ...[
    'x-request-id',
    'x-receipt-id',
    'x-receipt-salt',
    'x-model-verified',
    'x-answered-by',
    'x-answer-id',
    'retry-after',
    'retry-after-ms',
    'x-should-retry',
  ],
  ...['requests', 'tokens'].flatMap((what) =>
    ['limit', 'remaining', 'reset'].map((which) => `x-ratelimit-${which}-${what}`),
  ),
].join(', ');

/** A long prompt over a slow connection takes time. */
const REQUEST_MS = 60_000;

export function createGatewayServer({ app, authentication, ...options }: GatewayServerDeps): HttpServer {
  const server = createHttpServer({
    ...options,
    errors: errorFormat(options),
    readiness: app.readiness,
    crossOrigin: {
      headers: { 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED_HEADERS },
      allowedHeaders: ALLOWED_HEADERS,
      isAlwaysSet: true,
    },
    bodyBytes: BODY_BYTES,
    timeouts: { requestMs: REQUEST_MS },
    hasSlowAnswers: true,
    requestIdPrefix: 'req_',
  });
  acceptJson(server.fastify);
  server.addRoutes(routes, new GatewayResponder(app, authentication, server.streams));
  addLedgerRoutes(server, app);
  return server;
}

/** The key, unless it may only do the other. */
function ofScope(key: GatewayKey, { isAdmin }: { readonly isAdmin: boolean }): GatewayKey {
  if ((key.access?.policy.isAdmin ?? false) === isAdmin) return key;
  throw new CompletionError(
    'forbidden',
    isAdmin
      ? 'This key asks models; administration needs an admin key, from `strata inference keys create --admin`.'
      : 'This is an admin key, which asks no model and reads no answers; create another key for that.',
  );
}

/** Continues at once with a value that is there: for a known key nothing waits. */
const now = <Value>(value: Value | Promise<Value>, next: (value: Value) => Promise<void> | undefined) =>
  value instanceof Promise ? value.then(next) : next(value);

class GatewayResponder implements Responder<Route> {
  readonly #app: GatewayApp;
  readonly #authentication: Authentication;
  /** Answers that are not streamed also occupy a connection and a slot. */
  readonly #answers: HttpServer['streams'];

  constructor(app: GatewayApp, authentication: Authentication, answers: HttpServer['streams']) {
    this.#app = app;
    this.#authentication = authentication;
    this.#answers = answers;
  }

  onRequest({ contract }: Route, request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined {
    const isAdmin = contract.isAdmin ?? false;
    if (contract.access === 'open') {
      contract.admit?.(this.#app, request);
      return undefined;
    }
    if (isAdmin && this.#app.hostGuard.isCrossSite(request))
      throw new CompletionError('foreign_page', 'Pages of other sites cannot administer this gateway.');
    const { authorization } = request.headers;
    // POST requests are expensive and may take long; GET requests are not.
    if (!isAdmin && (contract.method === 'POST' || contract.isLong)) {
      const entering = this.#authentication.enter(authorization, request.ip, reply.raw);
      return now(entering, (entered) => this.#enter(entered, { request, reply }));
    }
    return now(this.#authentication.identify(authorization, request.ip), (key) => {
      request.caller = ofScope(key, { isAdmin });
      return undefined;
    });
  }

  #enter({ key, revoked }: OpenCaller, { request, reply }: Exchange): Promise<void> | undefined {
    request.caller = ofScope(key, { isAdmin: false });
    request.revoked = revoked;
    const problem = this.#app.ledger.problem();
    if (problem !== undefined)
      throw new CompletionError('storage_unavailable', `The service ${problem}.`, { retryAfterMs: 30_000 });
    const caller = { key, address: request.ip };
    const reached = this.#answers.reachedLimit(caller);
    if (reached) throw tooManyAnswers(reached);
    const release = this.#answers.take(caller);
    // The client may have disconnected during the key lookup.
    if (reply.raw.closed) release();
    else reply.raw.on('close', release);
    const { limits } = this.#app;
    if (request.method !== 'POST' || !limits.areOf(key)) return undefined;
    return limits.takeRequest(key).then((headers) => void reply.headers(headers));
  }

  async respond({ contract, handler }: Route, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    // Clients of the OpenAI contract may add parameters: `api-version`.
    const input = parseInput({ ...contract, ignoresUnknown: contract.path.startsWith('/v1/') }, request);
    const body = contract.body ? contract.body.read(request.body) : input.body;
    return handler(this.#app, { ...input, body }, { request, reply });
  }
}
