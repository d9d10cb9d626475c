// Counts and times responses by route pattern, not by path: each response once, refusals included.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Metrics } from '../operations/metrics.ts';

export type Meter = ReturnType<Metrics['routeMeter']>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set by the route tables; other routes get one when they are added. */
    meter?: Meter;
  }
  interface FastifyRequest {
    /** On the clock of `performance.now()`. */
    receivedAt: number;
    isMetered: boolean;
  }
}

/** Meters the response when its connection is free again; does nothing if that was requested before. */
export function meterAtEnd(meter: Meter, request: FastifyRequest, reply: FastifyReply): void {
  if (request.isMetered) return;
  request.isMetered = true;
  const { receivedAt } = request;
  reply.raw.on('close', () => meter(reply.statusCode, performance.now() - receivedAt));
}

/**
 * Meters what is sent through Fastify, with `unmatched` if there is no route; handlers that write to the connection
 * meter themselves. Call before routes are added.
 */
export function meterResponses(fastify: FastifyInstance, metrics: Metrics, unmatched: Meter): void {
  fastify.decorateRequest('receivedAt', 0);
  fastify.decorateRequest('isMetered', false);
  fastify.addHook('onRequest', (request, _reply, done) => {
    request.receivedAt = performance.now();
    done();
  });
  fastify.addHook('onRoute', (route) => {
    const { config, method, url } = route;
    route.config = { ...config, meter: config?.meter ?? metrics.routeMeter(String(method), url) };
  });
  fastify.addHook('onSend', (request, reply, payload, done) => {
    // Fastify makes the options of a route for each call.
    if (!request.isMetered) meterAtEnd(request.routeOptions.config.meter ?? unmatched, request, reply);
    done(null, payload);
  });
}
