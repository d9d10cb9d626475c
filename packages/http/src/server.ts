// The HTTP server of every service: limits, refusals, metrics and shutdown. The service adds its routes, the format of its
// errors, and how it authenticates and answers requests.
import type { AddressInfo, Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { HostGuard } from './access/host-guard.ts';
import { addSecurityHeaders } from './access/security-headers.ts';
import { type ConnectionLimits, DEFAULT_LIMITS } from './limits/connection-settings.ts';
import type { Connections } from './limits/connections.ts';
import type { Metrics } from './operations/metrics.ts';
import type { Readiness } from './operations/readiness.ts';
import { traceRequests } from './operations/tracing.ts';
import { Refusal } from './problems/errors.ts';
import { addRoutes, type Responder, type TableRoute } from './server/add-routes.ts';
import { createFastify, type ErrorFormat, type RequestLimits } from './server/create-fastify.ts';
import { meterResponses } from './server/meter-responses.ts';
import { type CrossOrigin, handleErrors, limitMethods, refuseUnroutable } from './server/other-requests.ts';
import { PendingWork, type ShutdownOptions, shutDown } from './server/shutdown.ts';
import { limitClients, type StreamLimits } from './streams/stream-limits.ts';

export interface HttpServerOptions extends RequestLimits, ShutdownOptions {
  readonly errors: ErrorFormat;
  readonly crossOrigin: CrossOrigin;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Restricts Host and Origin of requests; unrestricted by default. */
  readonly hostGuard?: HostGuard | undefined;
  /** While it is stopping, connections are closed after their responses. */
  readonly readiness?: Pick<Readiness, 'isStopping'> | undefined;
  /** Limits of connections and streams; the defaults are for production. */
  readonly limits?: Partial<ConnectionLimits> | undefined;
}

export interface HttpServer extends AsyncDisposable {
  /** Limits of open streams, and of other responses that take long. */
  readonly streams: StreamLimits;
  /** Adds a table of routes, before the server listens. */
  addRoutes<R extends TableRoute>(routes: readonly R[], responder: Responder<R>): void;
  /** Resolves with the port when the server listens. */
  listen(options: { readonly host: string; readonly port: number }): Promise<number>;
  /** For pages and tests: the Fastify instance before it listens. */
  readonly fastify: FastifyInstance;
}

/** Length of the accept queue; a connection that finds it full is retried by the client after a second. */
const BACKLOG = 4_096;

export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { errors, logger, metrics, crossOrigin, hostGuard, trustedProxies, readiness } = options;
  const unmatched = metrics.routeMeter('*', 'unmatched');
  const refuse = refuseUnroutable({ errors, crossOrigin, unmatched });
  const fastify = createFastify({ errors, refuseUnroutable: refuse }, options);
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const { connections, streams } = limitClients(fastify.server, { limits, trustedProxies, logger, metrics });
  const pending = new PendingWork();

  const routeDeps = { fastify, errors, crossOrigin, metrics };
  // Before `meterResponses`, which gives every route a meter.
  limitMethods(routeDeps);

  // In this order, for every request:
  // The time; every response is metered.
  meterResponses(fastify, metrics, unmatched);
  // A span, for refused requests too; a child of the caller's `traceparent`.
  traceRequests(fastify);
  // While the service stops a connection ends with its response, before the server closes those that are idle.
  if (readiness) closeWhenStopping(fastify, readiness);
  // No response at all: the connection has too many waiting requests.
  limitPipelining(fastify);
  // Pages of other sites may read refusals too.
  if (crossOrigin.isAlwaysSet) setHeaders(fastify, crossOrigin);
  // 503: too many connections are busy.
  refuseExcess(fastify, connections);
  // 400, 403 or 421: another host or site.
  if (hostGuard) guardHosts(fastify, hostGuard);
  // 414: a URL that no route could have.
  limitUrls(fastify);
  // Authentication, input and the response: see `addRoutes`.
  // 404, and any other error.
  handleErrors(routeDeps);
  // Last, if the response does not have them.
  fastify.addHook('onSend', (_request, reply, payload, done) => {
    addSecurityHeaders(reply);
    done(null, payload);
  });

  return {
    fastify,
    streams,
    addRoutes: (routes, responder) => addRoutes({ ...routeDeps, logger, pending }, routes, responder),
    async listen({ host, port }) {
      await fastify.listen({ host, port, backlog: BACKLOG });
      return (fastify.server.address() as AddressInfo).port;
    },
    [Symbol.asyncDispose]: () => shutDown({ fastify, connections, pending }, options),
  };
}

function closeWhenStopping(fastify: FastifyInstance, readiness: Pick<Readiness, 'isStopping'>): void {
  fastify.addHook('onRequest', (_request, reply, done) => {
    if (readiness.isStopping) reply.raw.shouldKeepAlive = false;
    done();
  });
}

function setHeaders(fastify: FastifyInstance, { headers }: CrossOrigin): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    reply.headers({ ...headers, 'x-request-id': request.id });
    done();
  });
}

/** Requests that may wait on one connection; browsers and nearly all programs send one at a time. */
const MAX_WAITING = 16;
const MAX_URL_BYTES = 8_192;

/**
 * Closes connections with too many pipelined requests (RFC 9112, 9.3.2). Node parses all requests in a packet, possibly
 * a thousand, before it stops reading: as many responses would be held in memory until the client reads them.
 */
function limitPipelining(fastify: FastifyInstance): void {
  const waiting = new WeakMap<Socket, number>();
  fastify.addHook('onRequest', ({ raw: { socket } }, reply, done) => {
    // The response owns the socket: no other response is before it.
    if (!socket.destroyed && reply.raw.socket === socket) return done();
    const count = (waiting.get(socket) ?? 0) + 1;
    if (count > MAX_WAITING) socket.destroy();
    if (socket.destroyed) return void reply.hijack();
    waiting.set(socket, count);
    reply.raw.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1));
    done();
  });
}

/** A retry may find a free connection. */
function refuseExcess(fastify: FastifyInstance, connections: Pick<Connections, 'isExcess'>): void {
  const headers = { 'retry-after': '5', connection: 'close' };
  refuse(fastify, ({ raw }) =>
    connections.isExcess(raw) ? new Refusal('unavailable', 'Too many connections are open.', { headers }) : undefined,
  );
}

function guardHosts(fastify: FastifyInstance, hostGuard: Pick<HostGuard, 'refusalOf'>): void {
  refuse(fastify, (request) => hostGuard.refusalOf(request));
}

function limitUrls(fastify: FastifyInstance): void {
  refuse(fastify, ({ raw: { url = '' } }) =>
    url.length > MAX_URL_BYTES
      ? new Refusal('uri_too_long', `The URL is longer than ${MAX_URL_BYTES} bytes.`)
      : undefined,
  );
}

/** Refuses the requests for which `refusalOf` returns a refusal. */
function refuse(fastify: FastifyInstance, refusalOf: (request: FastifyRequest) => Refusal | undefined): void {
  fastify.addHook('onRequest', (request, _reply, done) => done(refusalOf(request)));
}
