// Ports as configured, and why one cannot be listened on.
import { type Metrics, type Readiness, serveMetrics } from '@strata/http';
import type { Config } from '../config.ts';
import { startErrorOf } from '../start-error.ts';

/** Runs `listen`; rejects with StartError where the port or the address is the trouble. */
export async function listening<T>(what: 'API' | 'metrics', config: Config, listen: () => Promise<T>): Promise<T> {
  const isApi = what === 'API';
  const doing = `serve the ${what} at ${config.host}, port ${isApi ? config.port : config.metricsPort}`;
  const advice = `choose another with ${isApi ? 'STRATA_STACK_PORT' : 'STRATA_METRICS_PORT'} or STRATA_HOST`;
  return listen().catch((cause: unknown) => {
    throw startErrorOf(cause, { doing, advice });
  });
}

/** The metrics of a process, and whether it lives and works. */
export function listenForMetrics(metrics: Metrics, config: Config, readiness: Readiness) {
  const options = { host: config.host, port: config.metricsPort, readiness };
  return listening('metrics', config, () => serveMetrics(metrics, options));
}
