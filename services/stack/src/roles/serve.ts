// A running process in its role: the service that answers, alone or with everything else, a scanner, or a scheduler; and how it stops.
import { lockedDirectories, warnOfFileSystem } from '@strata/db';
import type { Store } from '@strata/store';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { RunningRole, World } from '../context.ts';
import { followKeys } from '../ledger/follow-keys.ts';
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

/** The last time that a date can be, https://tc39.es/ecma262/#sec-time-values-and-time-range */
const MAX_TIME_MS = 8.64e15;
/** While stopping: how often connections without a request are closed. */
const IDLE_CHECK_MS = 50;

/** Starts what the role is; resolves when it works. */
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

/** Starts the service of the roles `all` and `api`; resolves when it answers. */
export async function startStack(config: Config, logger: Logger, world: World = {}): Promise<RunningStack> {
  await using stack = new AsyncDisposableStack();
  const service = stack.use(await createStack(config, logger, world));
  const { app, scheduling, readiness } = service;
  const metrics = stack.use(await listenForMetrics(service.metrics, config, readiness));
  await warmUpRoutes(app, logger);
  const port = await listening('API', config, () => service.server.listen({ host: config.host, port: config.port }));

  readiness.started();
  await keepHealth(service, logger);

  const stopping = new AbortController();
  const closed = new AbortController();
  // Where nobody else is the scheduler, it works from the first beat on.
  await scheduling?.scheduler.tryBegin();
  // As long as it answers, its answers are those of every node.
  const tasks = [service.follow(closed.signal), followKeys(app.ledger, logger, closed.signal)];
  if (scheduling) tasks.push(scheduling.scheduler.run(stopping.signal));
  if (scheduling && config.isScanning) tasks.push(app.scanner.run(stopping.signal));
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

/** Its answer has a receipt as all have: it is made while that can be, so that later a process without its database still lives. */
async function keepHealth({ server }: StackService, logger: Logger): Promise<void> {
  const { statusCode } = await server.fastify.inject({ url: '/health', headers: { host: 'localhost' } });
  if (statusCode !== 200) logger.warn({ statusCode }, 'no answer of /health could be made');
}

/** Real mode: the internet as it is, until SIGINT or SIGTERM. A second signal ends it at once. */
export async function serve(config: Config, logger: Logger): Promise<void> {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
  for (const directory of lockedDirectories(config)) warnOfFileSystem(directory, logger);
  await using running = await startRole(config, logger);
  const { port, metricsPort, store } = running;
  const url = port === undefined ? {} : { url: `http://${config.host}:${port}/` };
  logger.info({ role: config.role, ...url, metricsPort }, 'ready');

  if (config.role === 'all' || config.role === 'scheduler') await beginWithSomething(store, logger);
  if (running.isDnsWorking && !(await running.isDnsWorking()) && !stopping.signal.aborted) {
    logger.warn(
      { resolvers: config.resolvers.length > 0 ? config.resolvers.map(resolverName) : 'of the system' },
      'DNS does not answer: nothing can be scanned, what is stored is still served. Look at these resolvers, or set STRATA_RESOLVERS to others',
    );
  }
  if (!stopping.signal.aborted) {
    await new Promise<void>((resolve) => stopping.signal.addEventListener('abort', () => resolve(), { once: true }));
  }
  logger.info('stopping');
}

async function beginWithSomething(store: Store, logger: Logger): Promise<void> {
  // Every domain is due by the end of time; counting them would read all.
  const [known] = await store.due(new Date(MAX_TIME_MS), 1);
  if (known !== undefined) return;
  await store.addDomains(wellKnownDomains, { source: 'bundled' });
  logger.info(
    { domains: wellKnownDomains.length },
    'the store is empty: beginning with a small bundled list of well-known domains',
  );
}

function resolverName({ address, port }: Config['resolvers'][number]): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
