// Figures of the gateway for Prometheus; docs/monitoring.md says what each means.
import { addWitnessMetrics, type Metrics } from '@strata/http';
import type { SignedLedger } from '@strata/log';
import type { FastifyInstance } from 'fastify';
import type { Models } from './answers/models.ts';
import type { GatewayNetwork } from './network/gateway-network.ts';
import type { UsageRecorderDeps } from './store/usage-recorder.ts';

/** Counts and times requests by the route that was found, not by how its path was written. Before any route is added. */
export function meterRequests(fastify: FastifyInstance, metrics: Metrics): void {
  const meters = new Map<string, ReturnType<Metrics['routeMeter']>>();
  let refused = 0;
  metrics.total('strata_quota_refusals_total', 'Requests refused because a limit was reached', () => refused);
  fastify.addHook('onResponse', async (request, reply) => {
    // What matches no route may have been asked with any method.
    const { url } = request.routeOptions;
    const [method, route] = url === undefined ? ['*', 'unmatched'] : [request.method, url];
    const name = `${method} ${route}`;
    const meter = meters.get(name) ?? metrics.routeMeter(method, route);
    meters.set(name, meter);
    meter(reply.statusCode, reply.elapsedTime);
    if (reply.statusCode === 429) refused += 1;
  });
}

/** Hears of answers that are over: how they ended, how long they took, what they used. */
export function answerMeter(metrics: Metrics): NonNullable<UsageRecorderDeps['onAnswer']> {
  const took = metrics.durations('strata_inference_answer_seconds', 'Answers by how they ended', {
    label: 'outcome',
    buckets: [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
  });
  const first = metrics.durations('strata_inference_first_token_seconds', 'From the request to the first token', {
    label: 'outcome',
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  });
  const tokens = metrics.counter('strata_inference_tokens_total', 'Tokens of answers', 'kind');
  return ({ receivedAt }, { outcome, usage, firstTokenAt }, endedAt) => {
    took(outcome, endedAt.getTime() - receivedAt.getTime());
    if (firstTokenAt) first(outcome, firstTokenAt.getTime() - receivedAt.getTime());
    tokens('prompt', usage.promptTokens);
    tokens('cached', usage.cachedTokens);
    tokens('completion', usage.completionTokens);
  };
}

/** What the parts of the gateway say of themselves. */
export function addGatewayMetrics(
  metrics: Metrics,
  {
    models,
    ledger,
    network,
  }: { readonly models: Models; readonly ledger: SignedLedger; readonly network: GatewayNetwork | undefined },
): void {
  // One that has two names has one line.
  const lines = () => [...new Set(models.list().map(({ admission }) => admission))];
  const sum = (of: (line: ReturnType<typeof lines>[number]) => number) =>
    lines().reduce((total, line) => total + of(line), 0);
  metrics.gauges('strata_inference_answers', 'Answers being made, and waiting for a place', 'state', () => [
    ['running', sum(({ size, waiting }) => size - waiting)],
    ['waiting', sum(({ waiting }) => waiting)],
  ]);
  metrics.gauge('strata_inference_places', 'Answers that can be made at once', () => sum(({ places }) => places));
  metrics.gauge(
    'strata_inference_models_ready',
    'Models that can answer',
    () => models.list().filter(({ backend }) => backend.isReady).length,
  );
  metrics.gauge('strata_ledger_leaves', 'Receipts in the ledger', () => ledger.log.size);
  metrics.total('strata_ledger_commits_total', 'Commits of the ledger', () => ledger.log.stats().commits);
  metrics.gauge('strata_ledger_refusing', 'Whether the ledger takes no receipts until it is mended: 1 or 0', () =>
    ledger.log.stats().refusal || ledger.problem() !== undefined ? 1 : 0,
  );
  addWitnessMetrics(metrics, () => ledger.witnesses());
  if (network)
    metrics.gauges('strata_network', 'The network of workers as this gateway sees it', 'what', () =>
      Object.entries(network.report().totals),
    );
}
