// The methods that a URL does not serve: 405 with the allowed ones, and OPTIONS, which lists them.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Metrics } from '../operations/metrics.ts';
import { Refusal } from '../problems/errors.ts';
import type { ErrorFormat } from './error-format.ts';

/** Headers of responses to OPTIONS (Fetch standard, CORS). */
export interface CrossOrigin {
  /** Headers of every response. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The server sets them, and answers OPTIONS of any path; otherwise responder and error format set them, so that the
   * hot path can skip Fastify's headers.
   */
  readonly isAlwaysSet?: boolean;
  /** Request headers that pages of other sites may send. */
  readonly allowedHeaders: string;
}

export interface OtherMethodsDeps {
  readonly fastify: FastifyInstance;
  readonly errors: ErrorFormat;
  readonly crossOrigin: CrossOrigin;
  readonly metrics: Metrics;
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'];

/** `url` in Fastify's syntax serves `methods`, and HEAD with GET; `path` is its name in the metrics. */
export function addOtherMethods(
  { fastify, errors, crossOrigin, metrics }: OtherMethodsDeps,
  { url, path, methods }: { readonly url: string; readonly path: string; readonly methods: readonly string[] },
): void {
  const served = methods.includes('GET') ? [...methods, 'HEAD'] : methods;
  const allow = [...served, 'OPTIONS'].join(', ');
  const refusal = new Refusal('method_not_allowed', undefined, { headers: { allow } });
  fastify.route({
    method: METHODS.filter((method) => !served.includes(method) && fastify.supportedMethods.includes(method)),
    url,
    exposeHeadRoute: false,
    config: { meter: metrics.routeMeter('*', path) },
    // Before the body is read: it is irrelevant for a disallowed method.
    onRequest: async (request, reply) => errors.send(refusal, request, reply),
    handler: (_request, reply) => reply,
  });
  fastify.options(url, { config: { meter: metrics.routeMeter('OPTIONS', path) } }, (request, reply) =>
    sendOptions(crossOrigin, allow, { request, reply }),
  );
}

export function sendOptions(
  { headers, allowedHeaders }: CrossOrigin,
  allow: string,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): FastifyReply {
  return reply
    .headers({
      ...headers,
      allow,
      'access-control-allow-methods': allow,
      'access-control-allow-headers': allowedHeaders,
      'access-control-max-age': '86400',
      'x-request-id': request.id,
    })
    .code(204)
    .send();
}
