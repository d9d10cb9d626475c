// Figures of the worker for Prometheus; docs/monitoring.md says what each means. Who asked is not among them.
import type { Metrics } from '@strata/http';
import type { SegmentReceipt } from '@strata/inference';
import type { EngineSlots } from './serve/engine-slots.ts';

/** Hears of receipts: what was made. */
export function segmentMeter(metrics: Metrics): (receipt: SegmentReceipt) => void {
  let segments = 0;
  metrics.total('strata_worker_segments_total', 'Parts of answers made, each with its receipt', () => segments);
  const tokens = metrics.counter('strata_worker_tokens_total', 'Tokens of these parts', 'kind');
  return ({ promptTokens, cachedTokens, from, to }) => {
    segments += 1;
    tokens('prompt', promptTokens);
    tokens('cached', cachedTokens);
    tokens('output', to - from);
  };
}

/** What the parts of the worker say of themselves. */
export function addWorkerMetrics(
  metrics: Metrics,
  {
    places,
    slots,
    gateways,
    isFit,
  }: {
    readonly places: EngineSlots;
    readonly slots: number;
    /** Gateways that have a channel to it. */
    readonly gateways: () => number;
    readonly isFit: () => boolean;
  },
): void {
  metrics.gauges('strata_worker_requests', 'Requests being served, and waiting for a place', 'state', () => [
    ['running', places.running],
    ['waiting', places.waiting],
  ]);
  metrics.gauge('strata_worker_places', 'Requests that can be served at once', () => slots);
  metrics.gauge('strata_worker_gateways', 'Gateways that are served', gateways);
  metrics.gauge('strata_worker_fit', '1 while its engine answers as it should, else 0', () => (isFit() ? 1 : 0));
}
