// A running gateway: listens until it is stopped.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { lockedDirectories, warnOfFileSystem } from '@strata/db';
import { serveMetrics, witnessProblem } from '@strata/http';
import type { Logger } from 'pino';
import { createGateway, type Gateway, type GatewayWorld, newWatched } from './app.ts';
import type { GatewayConfig } from './config.ts';
import { GatewayStartError } from './start-error.ts';

export interface RunningGateway extends AsyncDisposable {
  readonly gateway: Gateway;
  readonly port: number;
  /** Undefined: the settings name none. */
  readonly metricsPort: number | undefined;
}

/** Starts the service; resolves when it answers. Rejects with EngineError for the model, GatewayStartError for a port. */
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
    throw new GatewayStartError(
      `cannot serve at ${host}, port ${at}: ${why}; choose another with ${setting} or STRATA_HOST`,
      { cause },
    );
  };
  const unusable = unusableAt(config.port, 'STRATA_INFERENCE_PORT');
  // Before a model is downloaded or loaded for nothing.
  await tryPort(host, config.port).catch(unusable);
  const watched = newWatched();
  const { metrics, readiness } = watched;
  // Before a model is loaded, which may take minutes: until then it says that it starts.
  const figures =
    config.metricsPort === undefined
      ? undefined
      : await serveMetrics(metrics, { host, port: config.metricsPort, readiness }).catch(
          unusableAt(config.metricsPort, 'STRATA_INFERENCE_METRICS_PORT'),
        );
  stack.use(figures);
  const gateway = stack.use(await createGateway(config, logger, world, watched));
  const port = await gateway.server.listen({ host, port: config.port }).catch(unusable);
  readiness.started();
  const stopping = new AbortController();
  const chores = keepHouse(gateway, { config, logger, signal: stopping.signal });
  stack.defer(async () => {
    stopping.abort();
    // Balancers that look are told before a connection closes, and get their time to hear it.
    readiness.stopping();
    if (config.drainMs > 0) await sleep(config.drainMs);
    await chores;
  });
  const owned = stack.move();
  return { gateway, port, metricsPort: figures?.port, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Serves until SIGINT or SIGTERM; `onReady` hears when it answers. Rejects with GatewayStartError when another gateway has taken over. */
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
    const { superseded } = running.gateway;
    const ended = AbortSignal.any([stopping.signal, superseded]);
    if (!ended.aborted) await once(ended, 'abort');
    logger.info('stopping');
    superseded.throwIfAborted();
  } catch (error) {
    // Stopped while a model came, or was loaded.
    if (!stopping.signal.aborted) throw error;
    logger.info('stopped before it was ready');
  }
}

const FOLLOW_MS = 2_000;
/** Receipts are forgotten this often. */
const FORGET_MS = 3_600_000;

/** Takes up rotated signing keys, logs when it cannot sign and when it can again, and forgets old receipts. */
async function keepHouse(
  { ledger, recorder }: Gateway,
  { config, logger, signal }: { readonly config: GatewayConfig; readonly logger: Logger; readonly signal: AbortSignal },
): Promise<void> {
  let forgotAt = Number.NEGATIVE_INFINITY;
  let logged: string | undefined;
  let uncosigned: string | undefined;
  while (!signal.aborted) {
    try {
      await ledger.reload();
      const problem = ledger.problem();
      if (problem === undefined && logged !== undefined) logger.info('receipts are signed again');
      if (problem !== undefined && problem !== logged)
        logger.error({ problem }, 'no answers: no receipt can be signed');
      logged = problem;
      const missing = witnessProblem(ledger.witnesses());
      if (missing === undefined && uncosigned !== undefined) logger.info('checkpoints are cosigned again');
      if (missing !== undefined && missing !== uncosigned)
        logger.error({ problem: missing }, 'checkpoints lack cosignatures: answers go on without them');
      uncosigned = missing;
      if (performance.now() - forgotAt > FORGET_MS) {
        forgotAt = performance.now();
        await recorder.forget(new Date(Date.now() - config.receiptDays * 86_400_000));
      }
    } catch (error) {
      logger.error({ err: error }, 'reading the signing keys, or forgetting old receipts, failed');
    }
    await sleep(FOLLOW_MS, undefined, { signal }).catch(() => {});
  }
}

async function tryPort(host: string, port: number): Promise<void> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => probe.once('error', reject).listen({ host, port }, resolve));
  await new Promise((closed) => probe.close(closed));
}
