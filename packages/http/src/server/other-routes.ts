// Requests outside the route tables: pages and files, unknown paths, and errors.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Metrics } from '../operations/metrics.ts';
import { Refusal } from '../problems/errors.ts';
import { sendMissingPage } from '../site.ts';
import type { ErrorFormat } from './error-format.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A route of a table: its handler measures it. */
    isMetered?: boolean;
  }
}

/** Counts and times requests by route pattern, not by path. Call before routes are added. */
export function meterOtherRoutes(fastify: FastifyInstance, metrics: Metrics): void {
  fastify.addHook('onRoute', (route) => {
    if (route.config?.isMetered) return;
    const meter = metrics.routeMeter(String(route.method), route.url);
    const hooks = route.onResponse ?? [];
    route.onResponse = [
      ...(Array.isArray(hooks) ? hooks : [hooks]),
      async (_request: FastifyRequest, reply: FastifyReply) => meter(reply.statusCode, reply.elapsedTime),
    ];
  });
}

export function handleErrors(
  fastify: FastifyInstance,
  { errors, metrics }: { readonly errors: ErrorFormat; readonly metrics: Metrics },
): void {
  const unmatched = metrics.routeMeter('*', 'unmatched');
  fastify.setNotFoundHandler((request, reply) => {
    const startedAt = performance.now();
    reply.raw.once('close', () => unmatched(reply.statusCode, performance.now() - startedAt));
    return sendMissingPage(fastify, request, reply) ?? errors.send(new Refusal('not_found'), request, reply);
  });
  fastify.setErrorHandler((error, request, reply) => errors.send(error, request, reply));
}
