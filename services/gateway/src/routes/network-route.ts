// `GET /network`: no key; the same bytes for everybody who asks within a second.
import { CompletionError } from '@strata/inference';
import type { FastifyInstance } from 'fastify';
import type { NetworkReport } from '../network/network-report.ts';

const FRESH_MS = 1_000;

/** `report` undefined: the gateway is on no network. */
export function addNetworkRoute(fastify: FastifyInstance, report: (() => NetworkReport) | undefined): void {
  let body = '';
  let madeAtMs = Number.NEGATIVE_INFINITY;
  fastify.get('/network', (_request, reply) => {
    if (!report)
      throw new CompletionError(
        'not_found',
        'This gateway is on no network: it serves the models of its own settings.',
      );
    if (performance.now() - madeAtMs > FRESH_MS) {
      body = JSON.stringify(report());
      madeAtMs = performance.now();
    }
    return reply.header('cache-control', 'public, max-age=1').type('application/json; charset=utf-8').send(body);
  });
}
