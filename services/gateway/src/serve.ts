// Runs the gateway: listens until it is stopped.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { lockedDirectories, warnOfFileSystem } from '@strata/db';
import { FailureLog, followKeys, StartError, serveMetrics } from '@strata/http';
import type { Logger } from 'pino';
import type { Models } from './answers/models.ts';
import { createGateway, type Gateway, type GatewayWorld, newMonitoring } from './app.ts';
import type { GatewayConfig } from './config.ts';
import { DAY_MS } from './store/access/policy.ts';

export interface RunningGateway extends AsyncDisposable {
  readonly gateway: Gateway;
  readonly port: number;
  /** Undefined if the settings have no metrics port. */
  readonly metricsPort: number | undefined;
}

/**
 * Starts the service; resolves when it accepts requests. Rejects with EngineError for a model, StartError for a
 * port.
 */
export async function startGateway(
  config: GatewayConfig,
  logger: Logger,
  world: GatewayWorld = {},
): Promise<RunningGateway> {
  await using stack = new AsyncDisposableStack();
  const { host } = config;
  const unusableAt = (at: number, setting: string) => (cause: unknown) => {
    const { code, message } = cause as NodeJS.ErrnoException;
    const why = code === 'EADDRINUSE' ? 'the port is in use' : message;
    throw new StartError(`cannot serve at ${host}, port ${at}: ${why}; choose another with ${setting} or STRATA_HOST`, {
      cause,
    });
  };
  const unusable = unusableAt(config.port, 'STRATA_INFERENCE_PORT');
  // First: a failure here must not cost the download or load of a model.
  await tryPort(host, config.port).catch(unusable);
  const monitoring = newMonitoring();
  const { metrics, readiness } = monitoring;
  // Before a model is loaded, which can take minutes; until then the readiness is `starting`.
  const metricsServer =
    config.metricsPort === undefined
      ? undefined
      : await serveMetrics(metrics, { host, port: config.metricsPort, readiness }).catch(
          unusableAt(config.metricsPort, 'gateway=… of STRATA_METRICS_PORT'),
        );
  stack.use(metricsServer);
  const gateway = stack.use(await createGateway(config, logger, world, monitoring));
  // A restarted gateway that lacks its workers would refuse requests that another gateway can answer.
  if (await gateway.membership.hasSiblings()) await untilServed(gateway.models, world.signal);
  const port = await gateway.server.listen({ host, port: config.port }).catch(unusable);
  readiness.started();
  const stopping = new AbortController();
  const { signal } = stopping;
  const maintenance = Promise.all([
    followKeys(gateway.ledger, logger, signal),
    forgetReceipts(gateway, { config, logger, signal }),
  ]);
  stack.defer(async () => {
    stopping.abort();
    // Load balancers that poll readiness get time to react before connections are closed.
    readiness.stopping();
    await sleep(config.drainMs ?? ((await gateway.membership.hasSiblings()) ? DRAIN_MS : 0));
    await maintenance;
  });
  const owned = stack.move();
  return { gateway, port, metricsPort: metricsServer?.port, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/**
 * Serves until SIGINT or SIGTERM; calls `onReady` when it accepts requests.
 */
export async function serveGateway(
  config: GatewayConfig,
  logger: Logger,
  { onReady }: { readonly onReady?: (running: RunningGateway) => void } = {},
): Promise<void> {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
  for (const directory of lockedDirectories(config)) warnOfFileSystem(directory, logger);
  try {
    await using running = await startGateway(config, logger, { signal: stopping.signal });
    onReady?.(running);
    if (!stopping.signal.aborted) await once(stopping.signal, 'abort');
    logger.info('stopping');
  } catch (error) {
    // Stopped while a model was downloaded or loaded.
    if (!stopping.signal.aborted) throw error;
    logger.info('stopped before it was ready');
  }
}

/** Resolves when the models of the network that were known before the start are served, at most after a few seconds. */
async function untilServed(models: Models, signal: AbortSignal | undefined): Promise<void> {
  const deadline = performance.now() + WORKERS_MS;
  while (models.awaited > 0 && performance.now() < deadline && !signal?.aborted) await sleep(POLL_MS);
}

/** Load balancers poll the readiness every second, and believe the second failure: `deploy/proxy`. */
const DRAIN_MS = 3_000;
/** Workers find a gateway that has restarted within two seconds. */
const WORKERS_MS = 4_000;
const POLL_MS = 50;
/** Interval between deletions of expired receipts. */
const FORGET_MS = 3_600_000;
/** Retention of the log of administration: the changes of more than a year. */
const AUDIT_DAYS = 400;

async function forgetReceipts(
  { recorder, membership, audit, now }: Gateway,
  { config, logger, signal }: { readonly config: GatewayConfig; readonly logger: Logger; readonly signal: AbortSignal },
): Promise<void> {
  const failures = new FailureLog(logger, { what: 'deleting expired receipts' });
  while (!signal.aborted) {
    try {
      const nowMs = now().getTime();
      await recorder.forget(new Date(nowMs - config.receiptDays * DAY_MS));
      await audit.forget(new Date(nowMs - AUDIT_DAYS * DAY_MS));
      await membership.tidy(new Date(nowMs));
      failures.recovered();
    } catch (error) {
      failures.failed(error);
    }
    await sleep(FORGET_MS, undefined, { signal }).catch(() => {});
  }
}

async function tryPort(host: string, port: number): Promise<void> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => probe.once('error', reject).listen({ host, port }, resolve));
  await new Promise((closed) => probe.close(closed));
}
