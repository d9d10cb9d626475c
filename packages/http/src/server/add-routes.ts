// Adds a route table to Fastify: paths, methods, metrics, and the work that a shutdown waits for.
import type { FastifyBaseLogger, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import type { Logger } from 'pino';
import type { Endpoint } from '../route.ts';
import { type Meter, meterAtEnd } from './meter-responses.ts';
import { addOtherMethods, type OtherRequestsDeps } from './other-requests.ts';
import type { PendingWork } from './shutdown.ts';

/** A route of any service, which has its own contracts. */
export interface TableRoute {
  readonly contract: Endpoint;
}

/** How a service answers its routes: authentication, input, and the receipt of the response. Errors are thrown. */
export interface Responder<R extends TableRoute> {
  /** Before the body is read, which waits for a promise. */
  onRequest?(route: R, request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined;
  /** The hot path: sends a cached response and returns its status. Undefined: `respond` is called. */
  sendCached?(route: R, request: FastifyRequest, reply: FastifyReply): number | undefined;
  /** Resolves with the body, or with the reply if it is sent. */
  respond(route: R, request: FastifyRequest, reply: FastifyReply): Promise<unknown>;
}

export interface TableDeps extends OtherRequestsDeps {
  readonly logger: Logger;
  readonly pending: PendingWork;
}

export function addRoutes<R extends TableRoute>(deps: TableDeps, routes: readonly R[], responder: Responder<R>): void {
  for (const route of routes) addRoute(deps, urlOf(route.contract.path), { route, responder });
  for (const [path, ofPath] of Map.groupBy(routes, ({ contract }) => contract.path))
    addOtherMethods(deps, { url: urlOf(path), path, methods: ofPath.map(({ contract }) => contract.method) });
}

/** In Fastify's syntax, where `::` is a colon; a parameter before one ends there. */
const urlOf = (path: string) =>
  path
    .replaceAll(':', '::')
    .replaceAll(/\{(\w+)\}::/g, ':$1(^[^:/]+)::')
    .replaceAll(/\{(\w+)\*\}/g, '*')
    .replaceAll(/\{(\w+)\}/g, ':$1');

function addRoute<R extends TableRoute>(
  deps: TableDeps,
  url: string,
  { route, responder }: { readonly route: R; readonly responder: Responder<R> },
): void {
  const { method, path, bodies, upload, bodyBytes } = route.contract;
  const meter = deps.metrics.routeMeter(method, path);
  const { onRequest } = responder;
  const options: RouteOptions = {
    method,
    url,
    // HEAD runs the same handler and costs one request of the quota as well. It is counted with GET in the metrics.
    exposeHeadRoute: method === 'GET',
    config: { meter },
    ...(bodyBytes === undefined ? {} : { bodyLimit: bodyBytes }),
    ...(onRequest && {
      onRequest: (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => {
        const checking = onRequest.call(responder, route, request, reply);
        if (checking) checking.then(() => done(), done);
        else done();
      },
    }),
    handler: handlerOf(deps, meter, { route, responder }),
  };
  if (upload) {
    deps.fastify.register(async (scope) => {
      // The handler reads the body; `uploadOf` knows its types and its limit.
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
      scope.route(options);
    });
    return;
  }
  if (!bodies) return void deps.fastify.route(options);
  // In a scope of its own: only this route receives bodies other than JSON, as bytes; `parseInput` knows their types.
  deps.fastify.register(async (scope) => {
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes));
    scope.route(options);
  });
}

function handlerOf<R extends TableRoute>(
  { logger, pending }: TableDeps,
  meter: Meter,
  { route, responder }: { readonly route: R; readonly responder: Responder<R> },
) {
  const isStream = route.contract.output?.kind === 'events';
  return (request: FastifyRequest, reply: FastifyReply) => {
    const status = responder.sendCached?.(route, request, reply);
    if (status !== undefined) {
      meter(status, performance.now() - request.receivedAt);
      return reply;
    }
    reply.log = logger as FastifyBaseLogger;
    // The gateway's streams write to the connection: the server's hook does not see them.
    if (!isStream) meterAtEnd(meter, request, reply);
    const answered = pending.add(responder.respond(route, request, reply));
    if (!isStream) return answered;
    // Metered at its start, so that no closure retains the request. A refusal is metered when it is sent.
    return answered.then((begun) => {
      meter(reply.raw.statusCode, performance.now() - request.receivedAt);
      return begun;
    });
  };
}
