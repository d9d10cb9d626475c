// The HTTP server: authentication, limits, and the conversion of errors to responses.
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { type AddressInfo, Socket } from 'node:net';
import type { StoredKey } from '@strata/db';
import {
  addSecurityHeaders,
  answerSecurity,
  type ClientTimeouts,
  type ConnectionLimits,
  countedAddress,
  createPipelineLimit,
  type HostGuard,
  limitClients,
  type Metrics,
  RefusalLog,
  refusalCodeOf,
} from '@strata/http';
import { CompletionError, errorBody } from '@strata/inference';
import { SALT_BYTES } from '@strata/receipts';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import type { Logger } from 'pino';
import type { Callers } from '../limits/callers.ts';
import { nestsDeeper } from '../limits/json-nesting.ts';
import type { Limits } from '../limits/limits.ts';
import { ALLOWED_HEADERS, EXPOSED_HEADERS } from './cors-headers.ts';
import { asRefusal, BODY_BYTES, refuseUnread, retryHeaders, tooManyAnswers } from './error-response.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The authenticated key; only set below `/v1`. */
    caller: StoredKey;
    /** Aborts when that key is revoked; only set for POST. */
    revoked: AbortSignal;
    /** Hexadecimal: the salt of the receipt's digests, and the digest of the request body. */
    receiptSalt: string;
    bodyDigest: string;
  }
}

export interface GatewayServer extends AsyncDisposable {
  /** Adds routes below `/v1`: they require a key, and its limits apply. */
  addV1(add: (v1: FastifyInstance) => void): void;
  listen(options: { readonly host: string; readonly port: number }): Promise<number>;
  readonly fastify: FastifyInstance;
}

/** Maximum size of all headers together. */
const HEADER_BYTES = 16_384;
/** Maximum nesting depth of arrays and objects. */
const MAX_NESTED = 200;
/** Length of the accept queue; a connection that finds it full is retried by the client after a second. */
const BACKLOG = 4_096;
const SHUTDOWN_MS = 10_000;
const FINAL_EVENTS_MS = 1_000;
const SWEEP_MS = 50;
/** Client timeouts; a long prompt over a slow connection takes time. */
const DEFAULT_TIMEOUTS: ClientTimeouts = { headersMs: 10_000, requestMs: 60_000, idleMs: 60_000, checkMs: 5_000 };
const METHODS = ['GET', 'POST'] as const;

/** A Fastify server with authentication, limits and error responses; the caller adds routes. */
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
  hostGuard,
  timeouts,
  shutdownMs = SHUTDOWN_MS,
}: {
  readonly callers: Callers;
  readonly limits: Limits;
  readonly bounds: ConnectionLimits;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Why no receipt can be signed at present; undefined if signing works. */
  readonly problem: () => string | undefined;
  /** Called when the server stops: reject new requests; and, after `shutdownMs`, end the answers in progress. */
  readonly onStopping: () => void;
  readonly onLate: () => void;
  /** Proxies whose X-Forwarded-For is trusted (addresses or CIDRs). */
  readonly trustedProxies?: readonly string[];
  /** Rejects requests by host and origin; by default all are accepted. */
  readonly hostGuard?: HostGuard;
  /** Client timeouts; the defaults are for production. */
  readonly timeouts?: Partial<ClientTimeouts>;
  readonly shutdownMs?: number;
}): GatewayServer {
  const { headersMs, requestMs, idleMs, checkMs } = { ...DEFAULT_TIMEOUTS, ...timeouts };
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
  // Answers that are not streamed also occupy a connection and a slot.
  const { connections, streams: answers } = limitClients(fastify.server, { bounds, trustedProxies, logger, metrics });
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
  const isWithinPipeline = createPipelineLimit();
  fastify.addHook('onRequest', async (request, reply) => {
    if (!isWithinPipeline(request.raw, reply.raw)) return reply.hijack();
    reply.headers({
      'x-request-id': request.id,
      'access-control-allow-origin': '*',
      'access-control-expose-headers': EXPOSED_HEADERS,
    });
    if (connections.isExcess(request.raw))
      throw new CompletionError('overloaded', 'Too many connections are open.', {
        ...{ retryAfterMs: 5_000, headers: { connection: 'close' } },
      });
    const away = hostGuard?.rejectionOf(request);
    if (away) throw new CompletionError(refusalCodeOf(away) ?? 'invalid_request', away.detail);
    const encoding = request.headers['content-encoding'];
    if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
      throw new CompletionError('unsupported_media_type', 'Send the body as it is, without a Content-Encoding.');
  });
  // While an answer is generated its connection may be idle for long. While it is sent, a client that does not read is
  // disconnected. Node resets this timeout with the next request. Event streams have their own timeout.
  fastify.addHook('onSend', async (request, reply) => {
    addSecurityHeaders(reply);
    const { socket } = request.raw;
    // Requests injected by tests have no socket.
    if (socket instanceof Socket) socket.setTimeout(idleMs);
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
    // The route may exist without the requested file, for the pages.
    if (allowed.length === 0 || allowed.some((method) => method === asked))
      return refuse(new CompletionError('not_found', 'There is no such path. See GET /openapi.json.'), request, reply);
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
    // Internal errors are logged for the operator with or without a key; other refusals without a key are aggregated.
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
          // Hooks run for the matched route, not for the path as written.
          v1.addHook('onRequest', async (request, reply) => {
            const { authorization } = request.headers;
            if (request.method !== 'POST') {
              request.caller = await callers.identify(authorization, request.ip);
              return;
            }
            // POST requests are expensive and may take long; GET requests are not.
            const { key, revoked } = await callers.enter(authorization, request.ip, reply.raw);
            Object.assign(request, { caller: key, revoked });
            const why = problem();
            if (why !== undefined)
              throw new CompletionError('storage_unavailable', `The service ${why}.`, { retryAfterMs: 30_000 });
            const caller = { key, address: countedAddress(request.ip) };
            const met = answers.met(caller);
            if (met) throw tooManyAnswers(met);
            const release = answers.take(caller);
            // The client may have disconnected during the key lookup.
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
      // Answers in progress get `shutdownMs`, then a moment to send their final events; idle connections are closed.
      onStopping();
      let cut: NodeJS.Timeout | undefined;
      const late = setTimeout(() => {
        onLate();
        cut = setTimeout(() => fastify.server.closeAllConnections(), FINAL_EVENTS_MS);
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
