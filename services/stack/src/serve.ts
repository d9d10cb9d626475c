// A running service: listens, scans what is due, follows what other processes write, and stops gracefully.
import { serveMetrics } from '@strata/http';
import { Resolver } from '@strata/scan';
import { StoreError } from '@strata/store';
import type { Logger } from 'pino';
import { createStack, type StackService, type World } from './app.ts';
import type { Config } from './config.ts';
import { wellKnownDomains } from './well-known-domains.ts';

export interface RunningStack extends AsyncDisposable {
  readonly service: StackService;
  readonly port: number;
  readonly metricsPort: number;
}

/** How often the event log and the key files are looked at for what another process did. */
const FOLLOW_MS = 1_000;

/** Starts the service; resolves when it answers. */
export async function startStack(config: Config, logger: Logger, world: World = {}): Promise<RunningStack> {
  await using stack = new AsyncDisposableStack();
  const service = stack.use(await createStack(config, logger, world));
  const { app } = service;
  const metrics = stack.use(await serveMetrics(service.metrics, { host: config.host, port: config.metricsPort }));
  const port = await service.server.listen({ host: config.host, port: config.port });

  const stopping = new AbortController();
  const tasks = [followOthers(service, logger, stopping.signal)];
  if (config.isScanning) tasks.push(app.scanner.run(stopping.signal));
  stack.defer(async () => {
    stopping.abort();
    await app.scanner[Symbol.asyncDispose]();
    await Promise.all(tasks);
  });
  const owned = stack.move();
  return { service, port, metricsPort: metrics.port, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Real mode: the internet as it is, until SIGINT or SIGTERM. */
export async function serve(config: Config, logger: Logger): Promise<void> {
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
  await using resolver = new Resolver({ upstreams: config.resolvers, tries: 2 });
  const { status } = await resolver.query('com', 'NS');
  if (status !== 'found') {
    logger.warn(
      { status },
      'DNS does not answer: nothing can be scanned, what is stored is still served. Set STRATA_RESOLVERS, or try `npm run demo`, which needs no network',
    );
  }
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  logger.info('stopping');
}

/** Drops answers about domains that another process has scanned, and takes up rotated keys. */
async function followOthers(service: StackService, logger: Logger, signal: AbortSignal): Promise<void> {
  const { store, ledger } = service.app;
  let seq = await store.latestSeq();
  while (!signal.aborted) {
    try {
      const events = await store.eventsSince(seq, 1_000);
      for (const event of events) service.notice(event);
      seq = events.at(-1)?.seq ?? seq;
      await ledger.reload();
      if (events.length === 1_000) continue;
    } catch (error) {
      logger.error(
        { err: error, code: error instanceof StoreError ? error.code : undefined },
        'following other processes failed',
      );
    }
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, FOLLOW_MS);
      signal.addEventListener(
        'abort',
        () => {
          clearTimeout(timer);
          resolve();
        },
        { once: true },
      );
    });
  }
}
