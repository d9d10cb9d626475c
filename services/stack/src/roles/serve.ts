// Starts and stops a process of any role.
import { lockedDirectories, warnOfFileSystem } from '@strata/db';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { RunningRole, World } from '../context.ts';
import { followKeys } from '../ledger/follow-keys.ts';
import type { Store } from '../store/index.ts';
import { wellKnownDomains } from '../well-known-domains.ts';
import { createStack, type StackService } from './app.ts';
import { listenForMetrics, listening } from './listening.ts';
import { startScanner } from './start-scanner.ts';
import { startScheduler } from './start-scheduler.ts';
import { warmUpRoutes } from './warm-up.ts';

export interface RunningStack extends RunningRole {
  readonly service: StackService;
  readonly port: number;
}

/** The largest value of a date, https://tc39.es/ecma262/#sec-time-values-and-time-range */
const MAX_TIME_MS = 8.64e15;
/** While stopping: interval at which idle connections are closed. */
const IDLE_CHECK_MS = 50;

/** Starts the configured role; resolves when it is ready. */
export function startRole(config: Config, logger: Logger, world: World = {}): Promise<RunningRole> {
  switch (config.role) {
    case 'all':
    case 'api':
      return startStack(config, logger, world);
    case 'scanner':
      return startScanner(config, logger, world);
    case 'scheduler':
      return startScheduler(config, logger, world);
    default:
      return config.role satisfies never;
  }
}

/** Starts the roles `all` and `api`; resolves when requests are served. */
export async function startStack(config: Config, logger: Logger, world: World = {}): Promise<RunningStack> {
  await using stack = new AsyncDisposableStack();
  const service = stack.use(await createStack(config, logger, world));
  const { app, scheduling, readiness } = service;
  const metrics = stack.use(await listenForMetrics(service.metrics, config, readiness));
  await warmUpRoutes(app, logger);
  const port = await listening('API', config, () => service.server.listen({ host: config.host, port: config.port }));

  readiness.started();
  await prepareHealth(service, logger);

  const stopping = new AbortController();
  const closed = new AbortController();
  // If no other process is the scheduler, this one is active from the first update on.
  await scheduling?.scheduler.tryBegin();
  // Updates run until the last request is served.
  const tasks = [service.follow(closed.signal), followKeys(app.ledger, logger, closed.signal)];
  if (scheduling) tasks.push(scheduling.scheduler.run(stopping.signal));
  if (scheduling && config.isScanning) tasks.push(app.scanner.run(stopping.signal));
  stack.defer(async () => {
    // Order: no new work; then requests in progress, which may wait for a scan; then the remaining scans.
    stopping.abort();
    // Load balancers see the readiness change, and have time to react, before connections close.
    readiness.stopping();
    if (config.drainMs > 0) await new Promise((resolve) => setTimeout(resolve, config.drainMs));
    // Otherwise a connection that becomes idle would delay the stop until the server's own time-out.
    const idle = setInterval(() => service.server.fastify.server.closeIdleConnections(), IDLE_CHECK_MS);
    try {
      await service.server[Symbol.asyncDispose]();
    } finally {
      clearInterval(idle);
      closed.abort();
    }
    await app.scanner[Symbol.asyncDispose]();
    await Promise.all(tasks);
  });
  const owned = stack.move();
  return {
    service,
    port,
    metricsPort: metrics.port,
    store: app.store,
    isDnsWorking: app.isDnsWorking,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Prepares the signed answer of /health, so that it can be served later without the database. */
async function prepareHealth({ server }: StackService, logger: Logger): Promise<void> {
  const { statusCode } = await server.fastify.inject({ url: '/health', headers: { host: 'localhost' } });
  if (statusCode !== 200) logger.warn({ statusCode }, 'the answer of /health could not be prepared');
}

/** Real mode: runs on the internet until SIGINT or SIGTERM. A second signal ends the process immediately. */
export async function serve(config: Config, logger: Logger): Promise<void> {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
  for (const directory of lockedDirectories(config)) warnOfFileSystem(directory, logger);
  await using running = await startRole(config, logger);
  const { port, metricsPort, store } = running;
  const url = port === undefined ? {} : { url: `http://${config.host}:${port}/` };
  logger.info({ role: config.role, ...url, metricsPort }, 'ready');

  if (config.role === 'all' || config.role === 'scheduler') await seedEmptyStore(store, logger);
  if (running.isDnsWorking && !(await running.isDnsWorking()) && !stopping.signal.aborted) {
    logger.warn(
      { resolvers: config.resolvers.length > 0 ? config.resolvers.map(resolverName) : 'of the system' },
      'DNS does not answer: scans are not possible, stored data is still served. Check these resolvers, or set STRATA_RESOLVERS',
    );
  }
  if (!stopping.signal.aborted) {
    await new Promise<void>((resolve) => stopping.signal.addEventListener('abort', () => resolve(), { once: true }));
  }
  logger.info('stopping');
}

async function seedEmptyStore(store: Store, logger: Logger): Promise<void> {
  // Every domain is due at the maximum time; a count would read all rows.
  const [known] = await store.due(new Date(MAX_TIME_MS), 1);
  if (known !== undefined) return;
  await store.addDomains(wellKnownDomains, { source: 'bundled' });
  logger.info(
    { domains: wellKnownDomains.length },
    'the store is empty: starting with a small bundled list of well-known domains',
  );
}

function resolverName({ address, port }: Config['resolvers'][number]): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
