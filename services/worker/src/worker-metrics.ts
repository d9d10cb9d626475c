// Prometheus metrics of the worker, documented in docs/monitoring.md. They do not identify who sent requests.
import type { ModelMemoryStats } from '@strata/engine';
import { addModelMetrics, type Metrics } from '@strata/http';
import type { SegmentReceipt } from '@strata/inference';
import type { FairSlots } from '@strata/limits';

/** Records receipts: segments and tokens. */
export function segmentMeter(metrics: Metrics): (receipt: SegmentReceipt) => void {
  let segments = 0;
  metrics.total('strata_worker_segments_total', 'Answer segments generated, each with a receipt', () => segments);
  const tokens = metrics.counter('strata_worker_tokens_total', 'Tokens of these segments', 'kind');
  return ({ promptTokens, cachedTokens, from, to }) => {
    segments += 1;
    tokens('prompt', promptTokens);
    tokens('cached', cachedTokens);
    tokens('output', to - from);
  };
}

/** Gauges of the worker's components. */
export function addWorkerMetrics(
  metrics: Metrics,
  {
    engineSlots,
    slots,
    memory,
    gateways,
    isFit,
  }: {
    readonly engineSlots: FairSlots;
    readonly slots: number;
    readonly memory: (() => ModelMemoryStats) | undefined;
    /** The number of gateways with an open channel. */
    readonly gateways: () => number;
    readonly isFit: () => boolean;
  },
): void {
  addModelMetrics(metrics, memory);
  metrics.gauges('strata_worker_requests', 'Requests being served, and waiting for a slot', 'state', () => [
    ['running', engineSlots.running],
    ['waiting', engineSlots.waiting],
  ]);
  metrics.gauge('strata_worker_places', 'Maximum number of concurrent requests', () => slots);
  metrics.gauge('strata_worker_gateways', 'Connected gateways', gateways);
  metrics.gauge('strata_worker_fit', '1 if the worker can serve requests, otherwise 0', () => (isFit() ? 1 : 0));
}
