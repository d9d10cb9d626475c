// Whether the service lives, and whether it can answer: no key, for load balancers.
import type { FastifyInstance } from 'fastify';
import type { Models } from './models.ts';
import { VERSION } from './version.ts';

/** `isOnNetwork`: models come and go there, and a gateway without any is well. */
export function addHealthRoutes(
  fastify: FastifyInstance,
  models: Models,
  { isOnNetwork }: { readonly isOnNetwork: boolean },
): void {
  const ready = () =>
    models
      .list()
      .filter(({ backend }) => backend.isReady)
      .map(({ id }) => id);
  fastify.get('/health', (_request, reply) => {
    const ids = ready();
    const isOk = ids.length > 0 || isOnNetwork || models.list().length === 0;
    reply.code(isOk ? 200 : 503);
    return { status: isOk ? 'ok' : 'starting', version: VERSION, models: ids };
  });
  fastify.get('/ready', (_request, reply) => {
    const ids = ready();
    reply.code(ids.length > 0 ? 200 : 503);
    return { status: ids.length > 0 ? 'ready' : 'no model is ready', version: VERSION, models: ids };
  });
}
