// The HTTP side of the contract: who calls, what is asked, and one place where every failure becomes an error as clients know it.
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { type AddressInfo, Socket } from 'node:net';
import { EngineError } from '@strata/engine';
import {
  addSecurityHeaders,
  answerSecurity,
  type Bounds,
  boundClients,
  countedAddress,
  createPipelineLimit,
  type FrontDoor,
  type MetBound,
  type Metrics,
  type Patience,
  RefusalLog,
  refusalCodeOf,
} from '@strata/http';
import { CompletionError, errorBody } from '@strata/inference';
import { KeyringError } from '@strata/log';
import { SALT_BYTES } from '@strata/receipts';
import { type StoredKey, StoreError } from '@strata/store';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import type { Logger } from 'pino';
import type { Callers } from '../limits/callers.ts';
import { nestsDeeper } from '../limits/json-nesting.ts';
import type { Limits } from '../limits/limits.ts';
import { ALLOWED_HEADERS, EXPOSED_HEADERS } from './cors-headers.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The key that asks; below `/v1` alone. */
    caller: StoredKey;
    /** Aborts when that key is revoked; of a POST alone. */
    revoked: AbortSignal;
    /** Hex: the salt of the receipt's digests, and the digest of the body as it was sent. */
    receiptSalt: string;
    bodyDigest: string;
  }
}

export interface GatewayServer extends AsyncDisposable {
  /** Adds routes below `/v1`: whoever asks there has a key, and its limits count. */
  addV1(add: (v1: FastifyInstance) => void): void;
  listen(options: { readonly host: string; readonly port: number }): Promise<number>;
  readonly fastify: FastifyInstance;
}

/** Prompts are long; a body beyond this is refused before it is read. */
const BODY_BYTES = 16 * 1024 * 1024;
/** All headers together. */
const HEADER_BYTES = 16_384;
/** Arrays and objects within each other. */
const MAX_NESTED = 200;
/** Connections that may come at once; one that finds no room tries again after a second. */
const BACKLOG = 4_096;
const SHUTDOWN_MS = 10_000;
const LAST_WORDS_MS = 1_000;
const SWEEP_MS = 50;
/** A long prompt over a slow line takes its time. */
const PATIENCE: Patience = { headersMs: 10_000, requestMs: 60_000, stillMs: 60_000, checkMs: 5_000 };
const METHODS = ['GET', 'POST'] as const;

/** A Fastify server that refuses as the contract says; routes are added by the caller. */
export function createServer({
  callers,
  limits,
  bounds,
  logger,
  metrics,
  problem,
  onStopping,
  onLate,
  trustedProxies = [],
  frontDoor,
  patience,
  shutdownMs = SHUTDOWN_MS,
}: {
  readonly callers: Callers;
  readonly limits: Limits;
  readonly bounds: Bounds;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Why no answer can get a receipt just now; undefined while all is well. */
  readonly problem: () => string | undefined;
  /** While stopping: no new work; and, after `shutdownMs`, an end to what is under way. */
  readonly onStopping: () => void;
  readonly onLate: () => void;
  /** Proxies whose X-Forwarded-For is believed (addresses or CIDRs). */
  readonly trustedProxies?: readonly string[];
  /** Whom it answers at all; everybody by default. */
  readonly frontDoor?: FrontDoor;
  /** How long clients may take; the defaults are for production. */
  readonly patience?: Partial<Patience>;
  readonly shutdownMs?: number;
}): GatewayServer {
  const { headersMs, requestMs, stillMs, checkMs } = { ...PATIENCE, ...patience };
  const fastify = Fastify({
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    bodyLimit: BODY_BYTES,
    http: { maxHeaderSize: HEADER_BYTES, headersTimeout: headersMs, connectionsCheckingInterval: checkMs },
    requestTimeout: requestMs,
    keepAliveTimeout: 65_000,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    requestIdHeader: false,
    genReqId: (request) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && /^[A-Za-z0-9._-]{8,64}$/.test(given) ? given : `req_${randomUUID()}`;
    },
    clientErrorHandler: (error, socket) => refuseUnread(error as NodeJS.ErrnoException, socket),
    frameworkErrors: (error, request, reply) => void refuse(error, request, reply),
  });
  // Answers that are not streamed hold a connection and a slot too.
  const { connections, streams: answers } = boundClients(fastify.server, { bounds, trustedProxies, logger, metrics });
  const shared = new RefusalLog(logger);
  fastify.decorateRequest('receiptSalt', '');
  fastify.decorateRequest('bodyDigest', '');
  fastify.removeContentTypeParser(['text/plain', 'application/json']);
  const parseJson = fastify.getDefaultJsonParser('error', 'error');
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    const salt = randomBytes(SALT_BYTES);
    request.receiptSalt = salt.toString('hex');
    request.bodyDigest = createHmac('sha256', salt).update(body).digest('hex');
    if (nestsDeeper(body, MAX_NESTED)) {
      done(new CompletionError('invalid_request', `The body nests deeper than ${MAX_NESTED} levels.`));
      return;
    }
    parseJson(request, body.toString('utf8'), done);
  });
  const isInTurn = createPipelineLimit();
  fastify.addHook('onRequest', async (request, reply) => {
    if (!isInTurn(request.raw, reply.raw)) return reply.hijack();
    reply.headers({
      'x-request-id': request.id,
      'access-control-allow-origin': '*',
      'access-control-expose-headers': EXPOSED_HEADERS,
    });
    if (connections.isExcess(request.raw))
      throw new CompletionError('overloaded', 'Too many connections are open.', {
        ...{ retryAfterMs: 5_000, headers: { connection: 'close' } },
      });
    const away = frontDoor?.turnAway(request);
    if (away) throw new CompletionError(refusalCodeOf(away) ?? 'invalid_request', away.detail);
    const encoding = request.headers['content-encoding'];
    if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
      throw new CompletionError('unsupported_media_type', 'Send the body as it is, without a Content-Encoding.');
  });
  // While an answer is made its connection may be still for long; while it is sent, whoever reads nothing is let go. Node
  // takes this back with the next request. Streams of events see to it themselves.
  fastify.addHook('onSend', async (request, reply) => {
    addSecurityHeaders(reply);
    const { socket } = request.raw;
    // Nothing is a socket where a test asks without one.
    if (socket instanceof Socket) socket.setTimeout(stillMs);
  });
  fastify.options('/*', (_request, reply) =>
    reply
      .headers({
        'access-control-allow-methods': 'GET, POST, OPTIONS',
        'access-control-allow-headers': ALLOWED_HEADERS,
        'access-control-max-age': '86400',
      })
      .code(204)
      .send(),
  );
  fastify.setNotFoundHandler((request, reply) => {
    const path = request.url.slice(0, 200).replace(/\?.*$/s, '');
    const allowed = METHODS.filter((method) => fastify.findRoute({ method, url: path }) !== null);
    const asked = request.method === 'HEAD' ? 'GET' : request.method;
    // A route may be there and what it was asked for not: a file of the pages.
    if (allowed.length === 0 || allowed.some((method) => method === asked))
      return refuse(
        new CompletionError('not_found', 'There is no such path. GET /openapi.json lists all.'),
        request,
        reply,
      );
    reply.header('allow', allowed.join(', '));
    return refuse(
      new CompletionError('method_not_allowed', 'The header Allow lists the methods of this path.'),
      request,
      reply,
    );
  });
  fastify.setErrorHandler((error, request, reply) => refuse(error, request, reply));

  function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const refusal = asRefusal(error);
    const where = { requestId: request.id, path: request.url.slice(0, 200) };
    if (refusal.kind === 'internal') logger.error({ ...where, err: error }, 'request failed');
    // A failure of this machine, where something else than the refusal was thrown, is for the operator, with or without a key.
    else if (request.caller === undefined && (refusal.status < 500 || refusal === error))
      shared.note(request, { code: refusal.kind, detail: refusal.message });
    else if (refusal.status >= 500)
      logger.warn({ ...where, kind: refusal.kind, detail: refusal.message }, 'request refused');
    return reply
      .code(refusal.status)
      .headers({ ...answerSecurity, ...retryHeaders(refusal) })
      .type('application/json; charset=utf-8')
      .send(errorBody(refusal));
  }

  return {
    fastify,
    addV1(add) {
      void fastify.register(
        async (v1) => {
          // By the route that was found, not by how its path was written.
          v1.addHook('onRequest', async (request, reply) => {
            const { authorization } = request.headers;
            if (request.method !== 'POST') {
              request.caller = await callers.identify(authorization, request.ip);
              return;
            }
            // What is made costs, and may take long; looking what there is does not.
            const { key, revoked } = await callers.enter(authorization, request.ip, reply.raw);
            Object.assign(request, { caller: key, revoked });
            const why = problem();
            if (why !== undefined)
              throw new CompletionError('storage_unavailable', `The service ${why}.`, { retryAfterMs: 30_000 });
            const caller = { key, address: countedAddress(request.ip) };
            const met = answers.met(caller);
            if (met) throw tooManyAnswers(met);
            const release = answers.take(caller);
            // The client may have left while its key was looked up.
            if (reply.raw.closed) release();
            else reply.raw.once('close', release);
            reply.headers(await limits.takeRequest(key));
          });
          add(v1);
        },
        { prefix: '/v1' },
      );
    },
    async listen({ host, port }) {
      await fastify.listen({ host, port, backlog: BACKLOG });
      return (fastify.server.address() as AddressInfo).port;
    },
    async [Symbol.asyncDispose]() {
      // Answers under way get their time, then a moment to say that they end; a connection that falls idle is closed.
      onStopping();
      let cut: NodeJS.Timeout | undefined;
      const late = setTimeout(() => {
        onLate();
        cut = setTimeout(() => fastify.server.closeAllConnections(), LAST_WORDS_MS);
      }, shutdownMs);
      const sweep = setInterval(() => {
        fastify.server.closeIdleConnections();
        connections.closeSpare();
      }, SWEEP_MS);
      try {
        await fastify.close();
      } finally {
        clearInterval(sweep);
        clearTimeout(late);
        clearTimeout(cut);
      }
    },
  };
}

function tooManyAnswers({ bound, detail }: MetBound): CompletionError {
  const isFull = bound === 'streams-per-tier';
  return new CompletionError(isFull ? 'overloaded' : 'rate_limit', detail, { retryAfterMs: 1_000 });
}

/** What cannot be read as HTTP at all is told in the same shape, and the connection is over. */
function refuseUnread({ code }: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const [status, message] =
    code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', 'The headers are too large.']
      : code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ['408 Request Timeout', 'The request did not arrive in time.']
        : ['400 Bad Request', 'This cannot be read as HTTP.'];
  const body = JSON.stringify(errorBody(new CompletionError('invalid_request', message)));
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}

/** What the caller hears of a failure: its own fault in full, ours in general. */
export function asRefusal(error: unknown): CompletionError {
  if (error instanceof CompletionError) return error;
  if (error instanceof EngineError && error.code === 'upstream-refused')
    return new CompletionError(
      'engine_failed',
      'The server behind this model refuses this gateway; its operator can mend that.',
      {
        cause: error,
      },
    );
  if (error instanceof EngineError && error.code === 'nobody-there')
    return new CompletionError(
      'overloaded',
      'No worker that has this model can answer just now; try again in a moment.',
      {
        retryAfterMs: 2_000,
        cause: error,
      },
    );
  if (error instanceof EngineError)
    return new CompletionError('engine_failed', 'The engine failed while it worked on this; another try may succeed.', {
      retryAfterMs: 1_000,
      cause: error,
    });
  // Keys, quotas and receipts are there: nothing is answered that could not be counted or signed.
  if (error instanceof StoreError || error instanceof KeyringError)
    return new CompletionError(
      'storage_unavailable',
      'The service cannot use its database just now; try again in a moment.',
      { retryAfterMs: 2_000, cause: error },
    );
  const { code, statusCode } = error as { readonly code?: string; readonly statusCode?: number };
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new CompletionError('too_large', `The body is larger than ${BODY_BYTES} bytes.`, { cause: error });
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new CompletionError('unsupported_media_type', 'Send JSON, as `Content-Type: application/json`.', {
        cause: error,
      });
    case 'FST_ERR_BAD_URL':
      return new CompletionError('invalid_request', 'The path cannot be decoded.', { cause: error });
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return new CompletionError('invalid_request', 'The body is empty; send a JSON object.', { cause: error });
    default:
      // A path out of the folder of the pages, or hidden in it.
      if (statusCode === 403 || statusCode === 404)
        return new CompletionError('not_found', 'There is no such file here.', { cause: error });
      if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
        return new CompletionError('invalid_request', 'We could not parse the JSON body of your request.', {
          cause: error,
        });
      return new CompletionError('internal', 'Something went wrong on our side. Tell us the x-request-id.', {
        cause: error,
      });
  }
}

/** Later than this, waiting is for the caller's caller to decide. */
const MAX_WAIT_MS = 60_000;

/** `x-should-retry` and `retry-after-ms` are what the official clients read; `retry-after` is what everybody does. */
function retryHeaders({ retryAfterMs, status, headers }: CompletionError): Record<string, string> {
  const isWorthRetrying = retryAfterMs !== undefined && retryAfterMs <= MAX_WAIT_MS;
  return {
    ...headers,
    ...(status >= 500 || status === 429 ? { 'x-should-retry': String(isWorthRetrying) } : {}),
    ...(retryAfterMs === undefined
      ? {}
      : { 'retry-after': String(Math.ceil(retryAfterMs / 1_000)), 'retry-after-ms': String(retryAfterMs) }),
  };
}
