// Adds a route table to Fastify: paths, methods, metrics, and the work that a shutdown waits for.
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Metrics } from '../operations/metrics.ts';
import type { PendingWork } from '../operations/pending-work.ts';
import { Refusal } from '../problems/errors.ts';
import type { ErrorFormat } from './error-format.ts';

/** What the table needs to know of a route; each service has its own contracts. */
export interface TableRoute {
  readonly contract: {
    readonly method: 'GET' | 'POST';
    /** With parameters in OpenAPI syntax: `/v1/domains/{domain}`. A trailing `{rest*}` matches the remaining path. */
    readonly path: string;
    readonly output?: { readonly kind: string } | undefined;
    /** Maximum size of a body, if it is not that of the server. */
    readonly bodyBytes?: number | undefined;
  };
}

/** How a service answers its routes: authentication, input, and the receipt of the response. Errors are thrown. */
export interface Responder<R extends TableRoute> {
  /** Before the body is read. */
  onRequest?(route: R, request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** The hot path: sends a cached response and returns its status. Undefined: `respond` is called. */
  sendCached?(route: R, request: FastifyRequest, reply: FastifyReply): number | undefined;
  /** Resolves with the body, or with the reply if it is sent. */
  respond(route: R, request: FastifyRequest, reply: FastifyReply): Promise<unknown>;
}

/** Headers of responses to OPTIONS (Fetch standard, CORS). */
export interface CrossOrigin {
  /** Headers of every response. */
  readonly headers: Readonly<Record<string, string>>;
  /** The server sets them; otherwise responder and error format do, so that the hot path can skip Fastify's headers. */
  readonly isAlwaysSet?: boolean;
  /** Request headers that pages of other sites may send. */
  readonly allowedHeaders: string;
}

export interface TableDeps {
  readonly fastify: FastifyInstance;
  readonly errors: ErrorFormat;
  readonly crossOrigin: CrossOrigin;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly pending: PendingWork;
}

export function addRoutes<R extends TableRoute>(deps: TableDeps, routes: readonly R[], responder: Responder<R>): void {
  const methodsByUrl = new Map<string, string[]>();
  for (const each of routes) {
    const url = each.contract.path.replaceAll(/\{(\w+)\*\}/g, '*').replaceAll(/\{(\w+)\}/g, ':$1');
    methodsByUrl.set(url, [...(methodsByUrl.get(url) ?? []), each.contract.method]);
    addRoute(deps, url, { route: each, responder });
  }
  for (const [url, methods] of methodsByUrl) addOtherMethods(deps, url, methods);
}

function addRoute<R extends TableRoute>(
  deps: TableDeps,
  url: string,
  { route, responder }: { readonly route: R; readonly responder: Responder<R> },
): void {
  const { method, path, bodyBytes } = route.contract;
  const meter = deps.metrics.routeMeter(method, path);
  const { onRequest } = responder;
  deps.fastify.route({
    method,
    url,
    // HEAD runs the same handler and costs one request of the quota as well. It is counted with GET in the metrics.
    exposeHeadRoute: method === 'GET',
    config: { isMetered: true },
    ...(bodyBytes === undefined ? {} : { bodyLimit: bodyBytes }),
    // Refusals are metered too; those of the server's own hooks are not.
    ...(onRequest && {
      onRequest: async (request: FastifyRequest, reply: FastifyReply) => {
        meterAtEnd(meter, reply, performance.now());
        await onRequest.call(responder, route, request, reply);
      },
    }),
    handler: handlerOf(deps, meter, { route, responder }),
  });
}

type Meter = ReturnType<Metrics['routeMeter']>;

function meterAtEnd(meter: Meter, reply: FastifyReply, startedAt: number): void {
  reply.raw.once('close', () => meter(reply.statusCode, performance.now() - startedAt));
}

function handlerOf<R extends TableRoute>(
  { logger, pending }: TableDeps,
  meter: Meter,
  { route, responder }: { readonly route: R; readonly responder: Responder<R> },
) {
  const isStream = route.contract.output?.kind === 'events';
  const isMetered = responder.onRequest !== undefined;
  return (request: FastifyRequest, reply: FastifyReply) => {
    const startedAt = performance.now();
    const status = responder.sendCached?.(route, request, reply);
    if (status !== undefined) {
      meter(status, performance.now() - startedAt);
      return reply;
    }
    reply.log = logger as FastifyBaseLogger;
    if (!isStream && !isMetered) meterAtEnd(meter, reply, startedAt);
    const answered = pending.add(responder.respond(route, request, reply));
    if (!isStream) return answered;
    // Metered at its start, so that no closure retains the request. Refusals are metered when they are sent.
    return answered.then(
      (begun) => {
        meter(reply.raw.statusCode, performance.now() - startedAt);
        return begun;
      },
      (error: unknown) => {
        meterAtEnd(meter, reply, startedAt);
        throw error;
      },
    );
  };
}

/** HEAD comes with GET; OPTIONS lists the allowed methods; every other method gets 405 with the allowed methods. */
function addOtherMethods({ fastify, errors, crossOrigin }: TableDeps, url: string, methods: readonly string[]): void {
  const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
  const refusal = new Refusal('method_not_allowed', undefined, { headers: { allow } });
  const disallowed = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'].filter((method) => !methods.includes(method));
  fastify.route({
    method: disallowed.filter((method) => fastify.supportedMethods.includes(method)),
    url,
    exposeHeadRoute: false,
    config: { isMetered: true },
    // Before the body is read: it is irrelevant for a disallowed method.
    onRequest: async (request, reply) => errors.send(refusal, request, reply),
    handler: (_request, reply) => reply,
  });
  fastify.options(url, { config: { isMetered: true } }, (request, reply) =>
    reply
      .headers({
        ...crossOrigin.headers,
        allow,
        'access-control-allow-methods': allow,
        'access-control-allow-headers': crossOrigin.allowedHeaders,
        'access-control-max-age': '86400',
        'x-request-id': request.id,
      })
      .code(204)
      .send(),
  );
}
