// The report of the network.
import { CompletionError } from '@strata/inference';
import { route } from './route.ts';

export const getNetwork = route(
  {
    method: 'GET',
    path: '/network',
    access: 'open',
    described: { summary: 'Peers, models, load and reputation in the network', answer: 'Network' },
  },
  ({ networkReport }, _input, { reply }) => {
    if (!networkReport)
      throw new CompletionError(
        'not_found',
        'This gateway is not connected to a network: it serves only the models of its settings.',
      );
    return reply
      .header('cache-control', 'public, max-age=1')
      .type('application/json; charset=utf-8')
      .send(networkReport());
  },
);

const REPORT_MS = 1_000;

/** The report as JSON, built at most once a second. */
export function cachedReport(report: () => object): () => string {
  let body = '';
  let builtAtMs = Number.NEGATIVE_INFINITY;
  return () => {
    if (performance.now() - builtAtMs > REPORT_MS) {
      body = JSON.stringify(report());
      builtAtMs = performance.now();
    }
    return body;
  };
}
