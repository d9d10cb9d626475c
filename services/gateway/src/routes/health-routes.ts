// Liveness and readiness, without a key, for load balancers.
import type { Readiness } from '@strata/http';
import type { FastifyInstance } from 'fastify';
import type { Models, ServedModel } from '../answers/models.ts';
import { VERSION } from '../version.ts';

/** `own`: the models of the settings. Models of the network come and go; the gateway is healthy without them. */
export function addHealthRoutes(
  fastify: FastifyInstance,
  models: Models,
  { own, readiness }: { readonly own: readonly ServedModel[]; readonly readiness: Readiness },
): void {
  const ready = () =>
    models
      .list()
      .filter(({ backend }) => backend.isReady)
      .map(({ id }) => id);
  fastify.get('/health', (_request, reply) => {
    const isOk = own.length === 0 || own.some(({ backend }) => backend.isReady);
    reply.code(isOk ? 200 : 503);
    return { status: isOk ? 'ok' : 'starting', version: VERSION, models: ready() };
  });
  fastify.get('/ready', async (_request, reply) => {
    const { status, body } = await readiness.ready();
    if (status !== 200) return reply.code(status).send({ ...body, version: VERSION, models: [] });
    const ids = ready();
    reply.code(ids.length > 0 ? 200 : 503);
    return { ...body, status: ids.length > 0 ? 'ready' : 'no model is ready', version: VERSION, models: ids };
  });
}
