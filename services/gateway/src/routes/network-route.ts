// `GET /network`: without a key; cached for a second.
import { CompletionError } from '@strata/inference';
import type { FastifyInstance } from 'fastify';
import type { NetworkReport } from '../network/network-report.ts';

const FRESH_MS = 1_000;

/** `report` is undefined if the gateway is not connected to a network. */
export function addNetworkRoute(fastify: FastifyInstance, report: (() => NetworkReport) | undefined): void {
  let body = '';
  let builtAtMs = Number.NEGATIVE_INFINITY;
  fastify.get('/network', (_request, reply) => {
    if (!report)
      throw new CompletionError(
        'not_found',
        'This gateway is not connected to a network: it serves only the models of its settings.',
      );
    if (performance.now() - builtAtMs > FRESH_MS) {
      body = JSON.stringify(report());
      builtAtMs = performance.now();
    }
    return reply.header('cache-control', 'public, max-age=1').type('application/json; charset=utf-8').send(body);
  });
}
