// The roles `api` and `all`: serves requests, and follows the logs of the store. `all` also scans and runs
// the scheduler.
import path from 'node:path';
import type { DomainIndex } from '@strata/analytics';
import { isUnavailable } from '@strata/analytics-clickhouse';
import { StoreError } from '@strata/db';
import {
  AnswerCache,
  canSign,
  createHostGuard,
  createSignedServer,
  FailureLog,
  followKeys,
  Metrics,
  Readiness,
  type SignedServer,
  witnessFacts,
} from '@strata/http';
import { KeyringError, LogError } from '@strata/log';
import type { Logger } from 'pino';
import { followTables } from '../analytics/follow-tables.ts';
import { openAnalytics } from '../analytics/open-analytics.ts';
import { OutdatedAnswers } from '../analytics/outdated-answers.ts';
import type { Config } from '../config.ts';
import type { RunningRole, StackApp, World } from '../context.ts';
import { configuredSources } from '../enrichment/sources.ts';
import { EventBus } from '../events.ts';
import { Jobs } from '../exports/jobs.ts';
import { addMentionMetrics } from '../feeds/feed-metrics.ts';
import { LiveMentions } from '../feeds/live-mentions.ts';
import { openKnowledge } from '../index/knowledge.ts';
import { invalidateStale } from '../index/stale-answers.ts';
import { openLedger } from '../ledger/ledger.ts';
import { openWitnesses } from '../ledger/open-witnesses.ts';
import { sourceOf } from '../routes/exports/tables.ts';
import { routes, stackOpenApi } from '../routes/index.ts';
import { servePages } from '../routes/pages.ts';
import { expandedInput } from '../routes/segments/segments-in-queries.ts';
import { OnDemand } from '../scan/on-demand.ts';
import { openScanning } from '../scan/open-scanning.ts';
import { StreamHub } from '../stream/stream-hub.ts';
import { listenForMetrics, listening } from './listening.ts';
import { addScanMetrics, addStackMetrics, countedGate, timedNotary } from './stack-metrics.ts';
import { chainsOf, openScheduling, type Scheduling } from './start-scheduler.ts';
import { UpdateLoop } from './update-loop.ts';
import { warmUpRoutes } from './warm-up.ts';

export interface RunningStack extends RunningRole {
  readonly app: StackApp;
  readonly server: SignedServer;
  readonly port: number;
  readonly metrics: Metrics;
  readonly answers: AnswerCache;
  readonly updateLoop: UpdateLoop;
  /** Undefined with ClickHouse. */
  readonly index: DomainIndex | undefined;
  /** Set in the role `all`. */
  readonly scheduling: Scheduling | undefined;
}

/** Resolves when requests are served. */
export async function startStack(config: Config, logger: Logger, world: World = {}): Promise<RunningStack> {
  await using stack = new AsyncDisposableStack();
  const events = new EventBus(logger);
  const metrics = new Metrics();
  addScanMetrics(metrics, events);
  const answers = new AnswerCache(world.monotonicNow ? { now: world.monotonicNow } : {});
  invalidateStale(answers, events);
  const scanning = stack.use(await openScanning(config, { logger, events }, world));
  const { store, catalog, prober, rulebook, scanner, isOptedOut, isDnsWorking } = scanning;
  // Receipts use real time, even if the demo scans with another clock.
  const now = store.clock;
  const clock = world.now ?? now;
  const witnesses = stack.use(openWitnesses(config, world));
  const { dataDirectory, ledgerOrigin: origin } = config;
  const ledger = stack.use(
    await openLedger({ dataDirectory, origin, now, store, witnesses, logger, signal: world.signal }),
  );
  const closed = new AbortController();
  const clickhouse = await openAnalytics(config, stack, closed.signal);
  const knowledge = stack.use(await openKnowledge(config, { store, rulebook, clickhouse, events, logger }));
  const { analytics, known, log, index, names, exposures } = knowledge;
  const hub = await StreamHub.open({ table: store.stream, events });
  const mentions = stack.use(await LiveMentions.open({ store, logger, now: clock, events }));
  const { notary } = ledger;
  const scheduling =
    config.role === 'all'
      ? stack.use(
          await openScheduling(
            config,
            { scanning, knowledge, clickhouse, notary, events, logger, metrics, now },
            world,
          ),
        )
      : undefined;
  const live = [() => hub.catchUp(), () => mentions.catchUp()];
  const chains = chainsOf(knowledge, scheduling?.scheduler, live);
  const updateLoop = stack.use(new UpdateLoop({ store, events, logger, chains }));
  const jobs = await Jobs.open({
    ...{ directory: path.join(dataDirectory, 'jobs'), table: store.jobs, notary, logger, now },
    sourceOf: (order, uploadPath) => sourceOf(app, order, uploadPath),
  });
  const outdated = clickhouse && new OutdatedAnswers({ answers, events, log });
  const app: StackApp = {
    ...{ config, store, catalog, prober, rulebook, scanner, isOptedOut, isDnsWorking },
    ...{ ledger, analytics, known, log, names, exposures, hub, mentions, jobs, now, clock },
    sourceNames: configuredSources(config, { rulebook, nvdGapMs: world.nvdGapMs }).map(({ name }) => name),
    openApi: stackOpenApi(),
    onDemand: new OnDemand({
      perHour: config.onDemandPerHour,
      now,
      ...(world.onDemandWaitMs ? { waitMs: world.onDemandWaitMs } : {}),
    }),
  };
  metrics.disk(dataDirectory);
  addStackMetrics(metrics, app, { cachedAnswers: () => answers.size });
  addMentionMetrics(metrics, mentions);
  const readiness = new Readiness({ database: () => store.inspection.heads(), ledger: () => canSign(ledger) });
  readiness.report(() => witnessFacts(ledger.witnesses()));
  const server = stack.use(createServer(app, { answers, outdated, logger, metrics, readiness, updateLoop }));
  await servePages(server.fastify, app, {
    exampleDomain: world.exampleDomain ?? (() => 'example.com'),
    chatUrl: config.chatUrl,
    isSimulated: world.isSimulated ?? false,
  });
  stack.use(endRevokedStreams(server, events, logger));

  const { port: metricsPort } = stack.use(await listenForMetrics(metrics, config, readiness));
  // ClickHouse may be away, or large.
  if (index) await warmUpRoutes(app, logger);
  const port = await listening('API', config, () => server.listen({ host: config.host, port: config.port }));
  readiness.started();
  await prepareHealth(server, logger);

  const stopping = new AbortController();
  // If no other process is the scheduler, this one is active from the first update on.
  await scheduling?.scheduler.tryBegin();
  // Updates run until the last request is served.
  const tasks = [
    updateLoop.follow(closed.signal),
    followKeys(ledger, logger, closed.signal),
    jobs.run(stopping.signal),
  ];
  if (outdated) tasks.push(followTables({ analytics, outdated, logger }, closed.signal));
  if (scheduling) tasks.push(scheduling.scheduler.run(stopping.signal));
  if (scheduling && config.isScanning) tasks.push(scanner.run(stopping.signal));
  stack.defer(async () => {
    // Order: no new work; then requests in progress, which may wait for a scan; then the remaining scans.
    stopping.abort();
    // Load balancers see the readiness change, and have time to react, before connections close.
    readiness.stopping();
    if (config.drainMs > 0) await new Promise((resolve) => setTimeout(resolve, config.drainMs));
    try {
      await server[Symbol.asyncDispose]();
    } finally {
      closed.abort();
    }
    await scanner[Symbol.asyncDispose]();
    await Promise.all(tasks);
  });
  return Object.assign(stack.move(), {
    ...{
      app,
      index,
      server,
      port,
      metricsPort,
      metrics,
      answers,
      updateLoop,
      scheduling,
      store,
      catalog,
      isDnsWorking,
    },
  });
}

interface ServerDeps extends Pick<RunningStack, 'answers' | 'metrics' | 'updateLoop'> {
  readonly outdated: OutdatedAnswers | undefined;
  readonly readiness: Readiness;
  readonly logger: Logger;
}

/** The server with the routes, without the pages; does not listen. */
function createServer(app: StackApp, deps: ServerDeps): SignedServer {
  const { config, store, ledger, now } = app;
  const { answers, outdated, logger, metrics, readiness, updateLoop } = deps;
  const server = createSignedServer({
    ...{ app, routes, answers, logger, metrics, now },
    notary: timedNotary(ledger.notary, metrics),
    keys: { ...countedGate(store, metrics), revision: () => updateLoop.heads?.keys ?? 0 },
    expandInput: expandedInput,
    noteUse: (use) => store.keyUsage.note(use),
    trustedProxies: config.trustedProxies,
    limits: config.limits,
    // An upload of a million names on a slow connection.
    timeouts: { requestMs: 60_000 },
    headersOf: outdated && ((policy) => outdated.headersOf(policy)),
    unavailableDetail,
    hostGuard: createHostGuard({ ...config, keyedPath: '/stack/v1/' }),
  });
  server.fastify.get('/ready', async (_request, reply) => {
    const { status, body } = await readiness.ready();
    return reply.code(status).header('cache-control', 'no-store').send(body);
  });
  return server;
}

/** Not bugs: a full disk; a damaged, locked or unreachable database; keys that another node retired; ClickHouse is away. */
function unavailableDetail(error: unknown): string | undefined {
  if (error instanceof StoreError || error instanceof LogError || error instanceof KeyringError)
    return 'The service cannot read or write its data at the moment. Try again later.';
  return isUnavailable(error)
    ? `Questions about sets of domains cannot be answered at the moment: ${error.message}. Try again later.`
    : undefined;
}

/**
 * Ends the streams of revoked keys, until disposed. Retried with each update; returns quickly if no key was revoked since
 * the last success.
 */
function endRevokedStreams(server: SignedServer, events: EventBus, logger: Logger): AsyncDisposable {
  const failures = new FailureLog(logger, { what: 'checking open streams for revoked keys' });
  // One check after another; the last one ends before the store is closed.
  let checked = Promise.resolve();
  events.subscribe('logs-polled', () => {
    checked = checked
      .then(() => server.endRevokedStreams())
      .then(
        () => failures.recovered(),
        (error: unknown) => failures.failed(error),
      );
  });
  return { [Symbol.asyncDispose]: () => checked };
}

/** Prepares the signed answer of /health, so that it can be served later without the database. */
async function prepareHealth({ fastify }: SignedServer, logger: Logger): Promise<void> {
  const { statusCode } = await fastify.inject({ url: '/health', headers: { host: 'localhost' } });
  if (statusCode !== 200) logger.warn({ statusCode }, 'the answer of /health could not be prepared');
}
