// A running service: listens, scans what is due, follows what other processes write, and stops gracefully.
import { serveMetrics } from '@strata/http';
import type { Logger } from 'pino';
import { createStack, type StackService, type World } from './app.ts';
import type { Config } from './config.ts';
import { runEnrichment } from './enrichment/enrichment.ts';
import { advisoryDirectory } from './enrichment/open-enrichment.ts';
import { forgetOldItems } from './feeds/forget-items.ts';
import { DAY_MS } from './feeds/open-poller.ts';
import { importSubscriptions } from './feeds/subscriptions.ts';
import { rehearseQuestions } from './rehearsal.ts';
import { sleep } from './sleep.ts';
import { startErrorOf } from './start-error.ts';
import { wellKnownDomains } from './well-known-domains.ts';

export interface RunningStack extends AsyncDisposable {
  readonly service: StackService;
  readonly port: number;
  readonly metricsPort: number;
}

/** How often the event log and the key files are looked at for what another process did. */
const FOLLOW_MS = 1_000;
/** While stopping: how often connections without a request are closed. */
const IDLE_CHECK_MS = 50;

/** Starts the service; resolves when it answers. */
export async function startStack(config: Config, logger: Logger, world: World = {}): Promise<RunningStack> {
  await using stack = new AsyncDisposableStack();
  const service = stack.use(await createStack(config, logger, world));
  const { app } = service;
  if (config.feedsFile) await importSubscriptions(config.feedsFile, { store: app.store, logger, now: app.clock });
  const { readiness } = service;
  const metrics = stack.use(
    await listening('metrics', config, () => serveMetrics(service.metrics, { ...metricsAt(config), readiness })),
  );
  await rehearseQuestions(app, logger);
  const port = await listening('API', config, () => service.server.listen({ host: config.host, port: config.port }));

  readiness.started();

  const stopping = new AbortController();
  const tasks = [followOthers(service, logger, stopping.signal)];
  if (config.isScanning) tasks.push(app.scanner.run(stopping.signal));
  if (app.sources.length > 0) tasks.push(keepEnriched(app, logger, stopping.signal));
  if (config.isPollingFeeds) {
    const parts = { store: app.store, logger, now: app.clock };
    tasks.push(app.poller.run(stopping.signal));
    tasks.push(forgetOldItems(parts, { keepMs: config.feedDays * DAY_MS, signal: stopping.signal }));
  }
  stack.defer(async () => {
    // No new work; then requests under way, which may wait for a scan; then the scans that nobody waits for.
    stopping.abort();
    // Balancers that look are told before a connection closes, and get their time to hear it.
    readiness.stopping();
    if (config.drainMs > 0) await new Promise((resolve) => setTimeout(resolve, config.drainMs));
    // A connection that falls idle after its last answer would else be waited for until the server's own time-out.
    const idle = setInterval(() => service.server.fastify.server.closeIdleConnections(), IDLE_CHECK_MS);
    try {
      await service.server[Symbol.asyncDispose]();
    } finally {
      clearInterval(idle);
    }
    await app.scanner[Symbol.asyncDispose]();
    await Promise.all(tasks);
  });
  const owned = stack.move();
  return { service, port, metricsPort: metrics.port, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

const metricsAt = (config: Config) => ({ host: config.host, port: config.metricsPort });

async function listening<T>(what: 'API' | 'metrics', config: Config, listen: () => Promise<T>): Promise<T> {
  const isApi = what === 'API';
  const doing = `serve the ${what} at ${config.host}, port ${isApi ? config.port : config.metricsPort}`;
  const advice = `choose another with ${isApi ? 'STRATA_STACK_PORT' : 'STRATA_METRICS_PORT'} or STRATA_HOST`;
  return listen().catch((cause: unknown) => {
    throw startErrorOf(cause, { doing, advice });
  });
}

/** Real mode: the internet as it is, until SIGINT or SIGTERM. A second signal ends it at once. */
export async function serve(config: Config, logger: Logger): Promise<void> {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
  await using running = await startStack(config, logger);
  const { app } = running.service;
  logger.info({ url: `http://${config.host}:${running.port}/`, metricsPort: running.metricsPort }, 'ready');

  const { domains } = await app.store.counts();
  if (domains === 0) {
    await app.store.addDomains(wellKnownDomains, { source: 'bundled' });
    logger.info(
      { domains: wellKnownDomains.length },
      'the store is empty: beginning with a small bundled list of well-known domains',
    );
  }
  if (!(await app.isDnsWorking()) && !stopping.signal.aborted) {
    logger.warn(
      'DNS does not answer: nothing can be scanned, what is stored is still served. Set STRATA_RESOLVERS, or try `npm run demo`, which needs no network',
    );
  }
  if (!stopping.signal.aborted) {
    await new Promise<void>((resolve) => stopping.signal.addEventListener('abort', () => resolve(), { once: true }));
  }
  logger.info('stopping');
}

/** What a step of a sync has brought is told with the next beat. */
function keepEnriched(app: StackService['app'], logger: Logger, signal: AbortSignal): Promise<void> {
  const { store, sources, fetcher, clock, config } = app;
  const directory = advisoryDirectory(config);
  return runEnrichment(
    { store, sources, fetcher, directory, now: clock, logger, onStep: () => app.pulse.soon() },
    signal,
  );
}

/** Takes in what other processes have written, and rotated keys; also lets days end on which nothing is scanned. */
async function followOthers({ app }: StackService, logger: Logger, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await app.pulse.now();
    await app.ledger
      .reload()
      .catch((error: unknown) => logger.error({ err: error }, 'reading the signing keys failed'));
    await sleep(FOLLOW_MS, signal);
  }
}
