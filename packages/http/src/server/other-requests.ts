// Requests outside the route tables: the methods that a URL does not serve (405, and OPTIONS, which lists the allowed
// ones), unknown paths, and errors.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { addSecurityHeaders } from '../access/security-headers.ts';
import type { Metrics } from '../operations/metrics.ts';
import { Refusal } from '../problems/errors.ts';
import { sendMissingPage } from '../site.ts';
import type { ErrorFormat } from './create-fastify.ts';
import { type Meter, meterAtEnd } from './meter-responses.ts';

/** Headers for pages of other sites (Fetch standard, CORS). */
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

export interface OtherRequestsDeps {
  readonly fastify: FastifyInstance;
  readonly errors: ErrorFormat;
  readonly crossOrigin: CrossOrigin;
  readonly metrics: Metrics;
}

/** `url` in Fastify's syntax serves `methods`, and HEAD with GET; `path` is its name in the metrics. */
export function addOtherMethods(
  { fastify, errors, crossOrigin, metrics }: OtherRequestsDeps,
  { url, path, methods }: { readonly url: string; readonly path: string; readonly methods: readonly string[] },
): void {
  const served = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'];
  const allow = served.join(', ');
  const refusal = new Refusal('method_not_allowed', undefined, { headers: { allow } });
  fastify.route({
    method: fastify.supportedMethods.filter((method) => !served.includes(method)),
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

/** Adds the other methods to each page and file. Call before these are added. */
export function limitMethods(deps: OtherRequestsDeps): void {
  deps.fastify.addHook('onRoute', ({ method, url, config }) => {
    // The tables meter their own routes, and add their other methods; so do the routes that are added here.
    if (method === 'GET' && !config?.meter) addOtherMethods(deps, { url, path: url, methods: [method] });
  });
}

export function handleErrors({ fastify, errors, crossOrigin }: Omit<OtherRequestsDeps, 'metrics'>): void {
  fastify.setNotFoundHandler((request, reply) => {
    if (crossOrigin.isAlwaysSet && request.method === 'OPTIONS')
      return sendOptions(crossOrigin, 'GET, POST, OPTIONS', { request, reply });
    return sendMissingPage(fastify, request, reply) ?? errors.send(new Refusal('not_found'), request, reply);
  });
  fastify.setErrorHandler((error, request, reply) => errors.send(error, request, reply));
}

/** Refuses URLs that cannot be routed. Fastify runs no hooks for them: their work for a response is done here. */
export function refuseUnroutable({
  errors,
  crossOrigin,
  unmatched,
}: Pick<OtherRequestsDeps, 'errors' | 'crossOrigin'> & { readonly unmatched: Meter }) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    request.receivedAt = performance.now();
    meterAtEnd(unmatched, request, reply);
    if (crossOrigin.isAlwaysSet) reply.headers({ ...crossOrigin.headers, 'x-request-id': request.id });
    addSecurityHeaders(reply);
    void errors.send(error, request, reply);
  };
}

function sendOptions(
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
