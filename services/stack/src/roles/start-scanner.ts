// The role `scanner`: claims due domains, scans and records them. It serves only metrics and readiness.
import { Metrics, Readiness } from '@strata/http';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { RunningRole, World } from '../context.ts';
import { EventBus } from '../events.ts';
import { openScanning } from '../scan/open-scanning.ts';
import { listenForMetrics } from './listening.ts';
import { addDnsMetrics, addScanMetrics, addStoreMetrics } from './stack-metrics.ts';

/** Resolves when it is ready. */
export async function startScanner(config: Config, logger: Logger, world: World = {}): Promise<RunningRole> {
  await using stack = new AsyncDisposableStack();
  const events = new EventBus(logger);
  const metrics = new Metrics();
  addScanMetrics(metrics, events);
  const { store, catalog, scanner, prober, isDnsWorking } = stack.use(
    await openScanning(config, { logger, events }, world),
  );
  metrics.disk(config.dataDirectory);
  addDnsMetrics(metrics, prober);
  addStoreMetrics(metrics, { store, now: world.now ?? store.clock });
  const readiness = new Readiness({ database: () => store.inspection.heads() });
  readiness.report(() => ({ role: config.role }));
  const { port: metricsPort } = stack.use(await listenForMetrics(metrics, config, readiness));
  const stopping = new AbortController();
  const scanning = scanner.run(stopping.signal);
  readiness.started();
  stack.defer(async () => {
    readiness.stopping();
    stopping.abort();
    await scanner[Symbol.asyncDispose]();
    await scanning;
  });
  return Object.assign(stack.move(), { store, catalog, isDnsWorking, metricsPort });
}
