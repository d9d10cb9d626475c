// Metrics of the models that share a memory budget, of gateway and worker.
import type { Metrics } from './metrics.ts';

interface MemoryStats {
  readonly loads: number;
  readonly evictions: number;
  readonly failures: number;
  readonly heldBytes: number;
  readonly budgetBytes: number;
}

/** Without values if there is no budget. */
export function addModelMetrics(metrics: Metrics, memory: (() => MemoryStats) | undefined): void {
  metrics.gauges('strata_model_memory_bytes', 'Estimated memory of the loaded models, and the budget', 'what', () => {
    const stats = memory?.();
    return stats ? Object.entries({ held: stats.heldBytes, budget: stats.budgetBytes }) : [];
  });
  metrics.gauges('strata_model_loads', 'Model loads, evictions, failed loads, closures after crashes', 'what', () => {
    const stats = memory?.();
    return stats ? Object.entries({ loaded: stats.loads, evicted: stats.evictions, failed: stats.failures }) : [];
  });
}
