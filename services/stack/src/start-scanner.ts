// The role `scanner`: claims what is due, scans it, records it. It answers nobody but whoever watches over it.
import { Metrics } from '@strata/http';
import type { Logger } from 'pino';
import type { World } from './app.ts';
import type { Config } from './config.ts';
import { listenForMetrics } from './listening.ts';
import { addDnsMetrics, openScanning } from './open-scanning.ts';
import type { RunningRole } from './serve.ts';

/** Resolves when it works. */
export async function startScanner(config: Config, logger: Logger, world: World = {}): Promise<RunningRole> {
  await using stack = new AsyncDisposableStack();
  const { store, scanner, prober, isDnsWorking } = stack.use(await openScanning(config, { logger }, world));
  const metrics = new Metrics();
  addDnsMetrics(metrics, prober);
  const ready = async () => {
    await store.heads();
    return { role: config.role };
  };
  const { port: metricsPort } = stack.use(await listenForMetrics(metrics, config, ready));
  const stopping = new AbortController();
  const scanning = scanner.run(stopping.signal);
  stack.defer(async () => {
    stopping.abort();
    await scanner[Symbol.asyncDispose]();
    await scanning;
  });
  const owned = stack.move();
  return { store, isDnsWorking, port: undefined, metricsPort, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
