// Prometheus metrics of the gateway, documented in docs/monitoring.md.
import type { ModelMemoryStats } from '@strata/engine';
import { addModelMetrics, addWitnessMetrics, type Metrics } from '@strata/http';
import type { SignedLedger } from '@strata/log';
import type { Models } from './answers/models.ts';
import type { AnswerRecorderDeps } from './answers/receipts/answer-recorder.ts';
import { genAiMeter } from './gen-ai-telemetry.ts';
import type { GatewayNetwork } from './network/gateway-network.ts';

/** Records finished answers: outcome, duration and usage. */
export function answerMeter(metrics: Metrics): NonNullable<AnswerRecorderDeps['onAnswer']> {
  const took = metrics.durations('strata_inference_answer_seconds', 'Answers by how they ended', {
    label: 'outcome',
    buckets: [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
  });
  const first = metrics.durations('strata_inference_first_token_seconds', 'From the request to the first token', {
    label: 'outcome',
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  });
  const tokens = metrics.counter('strata_inference_tokens_total', 'Tokens of answers', 'kind');
  const genAi = genAiMeter(metrics);
  return (start, end, endedAt) => {
    const { receivedAt } = start;
    const { outcome, usage, firstTokenAt } = end;
    genAi(start, end, endedAt);
    took(outcome, endedAt.getTime() - receivedAt.getTime());
    if (firstTokenAt) first(outcome, firstTokenAt.getTime() - receivedAt.getTime());
    tokens('prompt', usage.promptTokens);
    tokens('cached', usage.cachedTokens);
    tokens('completion', usage.completionTokens);
  };
}

/** Gauges and counters of the gateway's components. */
export function addGatewayMetrics(
  metrics: Metrics,
  {
    models,
    memory,
    ledger,
    network,
  }: {
    readonly models: Models;
    readonly memory: (() => ModelMemoryStats) | undefined;
    readonly ledger: SignedLedger;
    readonly network: GatewayNetwork | undefined;
  },
): void {
  // A model with two names has one admission.
  const admissions = () => [...new Set(models.list().map(({ admission }) => admission))];
  const sum = (of: (admission: ReturnType<typeof admissions>[number]) => number) =>
    admissions().reduce((total, admission) => total + of(admission), 0);
  metrics.gauges('strata_inference_answers', 'Answers in progress, and answers waiting for a slot', 'state', () => [
    ['running', sum(({ running }) => running)],
    ['waiting', sum(({ waiting }) => waiting)],
  ]);
  metrics.gauge('strata_inference_places', 'Maximum number of concurrent answers', () => sum(({ slots }) => slots));
  metrics.gauge(
    'strata_inference_models_ready',
    'Models that can answer',
    () => models.list().filter(({ backend }) => backend.isReady).length,
  );
  addModelMetrics(metrics, memory);
  metrics.gauge('strata_ledger_leaves', 'Receipts in the ledger', () => ledger.log.size);
  metrics.total('strata_ledger_commits_total', 'Commits of the ledger', () => ledger.log.stats().commits);
  metrics.gauge('strata_ledger_refusing', 'Whether the ledger rejects receipts until it is repaired: 1 or 0', () =>
    ledger.log.stats().refusal || ledger.problem() !== undefined ? 1 : 0,
  );
  addWitnessMetrics(metrics, () => ledger.witnesses());
  if (network)
    metrics.gauges('strata_network', 'The network of workers as this gateway sees it', 'what', () =>
      Object.entries(network.report().totals),
    );
}
