// Listens on the configured ports, with an error for the operator if that fails.
import { type Metrics, type Readiness, serveMetrics } from '@strata/http';
import type { Config } from '../config.ts';
import { startErrorOf } from '../start-error.ts';

/** Runs `listen`; rejects with StartError if the port or the address is unusable. */
export async function listening<T>(what: 'API' | 'metrics', config: Config, listen: () => Promise<T>): Promise<T> {
  const isApi = what === 'API';
  const doing = `serve the ${what} at ${config.host}, port ${isApi ? config.port : config.metricsPort}`;
  const advice = `choose another one with ${isApi ? 'STRATA_STACK_PORT' : 'STRATA_METRICS_PORT'} or STRATA_HOST`;
  return listen().catch((cause: unknown) => {
    throw startErrorOf(cause, { doing, advice });
  });
}

/** Serves the metrics and the readiness of a process. */
export function listenForMetrics(metrics: Metrics, config: Config, readiness: Readiness) {
  const options = { host: config.host, port: config.metricsPort, readiness };
  return listening('metrics', config, () => serveMetrics(metrics, options));
}
