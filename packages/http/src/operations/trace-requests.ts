// A span for each request, a child of the caller's `traceparent` (https://www.w3.org/TR/trace-context/).
import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { FastifyInstance } from 'fastify';
import { isTracing } from './tracing.ts';

const tracer = trace.getTracer('strata-http');

/** Call before adding routes; does nothing if tracing is off. Spans contain routes, but no paths and no keys. */
export function traceRequests(fastify: FastifyInstance): void {
  if (!isTracing()) return;
  fastify.addHook('onRequest', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unmatched';
    const parent = propagation.extract(ROOT_CONTEXT, request.headers);
    const attributes = { 'http.request.method': request.method, 'http.route': route, 'strata.request_id': request.id };
    const span = tracer.startSpan(`${request.method} ${route}`, { kind: SpanKind.SERVER, attributes }, parent);
    reply.raw.once('close', () => {
      span.setAttribute('http.response.status_code', reply.raw.statusCode);
      if (reply.raw.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    });
    context.with(trace.setSpan(parent, span), done);
  });
}
