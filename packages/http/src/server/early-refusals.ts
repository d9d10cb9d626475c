// Hooks that refuse a request before its route is known: each costs less than answering.
import type { FastifyInstance } from 'fastify';
import { type HostGuard, refusalCodeOf } from '../access/host-guard.ts';
import type { Connections } from '../limits/connections.ts';
import { createPipelineLimit } from '../limits/pipeline-limit.ts';
import { Refusal } from '../problems/errors.ts';

const URL_BYTES = 8_192;

export function limitPipelining(fastify: FastifyInstance): void {
  const isWithinLimit = createPipelineLimit();
  fastify.addHook('onRequest', (request, reply, done) => {
    if (isWithinLimit(request.raw, reply.raw)) done();
    else void reply.hijack();
  });
}

/** A retry may find a free connection. */
export function refuseExcess(fastify: FastifyInstance, connections: Pick<Connections, 'isExcess'>): void {
  const headers = { 'retry-after': '5', connection: 'close' };
  fastify.addHook('onRequest', (request, _reply, done) => {
    if (connections.isExcess(request.raw))
      done(new Refusal('unavailable', 'Too many connections are open.', { headers }));
    else done();
  });
}

export function guardHosts(fastify: FastifyInstance, hostGuard: Pick<HostGuard, 'rejectionOf'>): void {
  fastify.addHook('onRequest', (request, _reply, done) => {
    const rejection = hostGuard.rejectionOf(request);
    if (rejection) done(new Refusal(refusalCodeOf(rejection), rejection.detail));
    else done();
  });
}

export function limitUrls(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, _reply, done) => {
    if (request.raw.url !== undefined && request.raw.url.length > URL_BYTES)
      done(new Refusal('uri_too_long', `The URL is longer than ${URL_BYTES} bytes.`));
    else done();
  });
}
