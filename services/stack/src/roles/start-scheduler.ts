// The role `scheduler`: follows the logs of the store, and runs the scheduler or is on standby. It serves only metrics and readiness.
import path from 'node:path';
import type { ClickHouse } from '@strata/analytics-clickhouse';
import { canSign, followKeys, Metrics, type Notary, Readiness } from '@strata/http';
import type { Fetcher } from '@strata/scan';
import type { Logger } from 'pino';
import { addExportMetrics, Exporting } from '../analytics/exporting.ts';
import { openAnalytics } from '../analytics/open-analytics.ts';
import { openReleaseFetcher } from '../catalog/open-release-fetcher.ts';
import { followReleases } from '../catalog/update-catalog.ts';
import type { Config } from '../config.ts';
import type { RunningRole, Scanning, World } from '../context.ts';
import { runEnrichment } from '../enrichment/enrichment.ts';
import { advisoryDirectory } from '../enrichment/open-enrichment.ts';
import { configuredSources } from '../enrichment/sources.ts';
import { EventBus } from '../events.ts';
import { checkDumpFolder } from '../exports/dump/folder-target.ts';
import { dumpNightly } from '../exports/dump/nightly.ts';
import { addPollMetrics } from '../feeds/feed-metrics.ts';
import { openPoller } from '../feeds/open-poller.ts';
import type { FeedPoller } from '../feeds/poller.ts';
import { importSubscriptions } from '../feeds/subscriptions.ts';
import { namesMatching } from '../index/domain-queries.ts';
import { type Knowledge, openKnowledge } from '../index/knowledge.ts';
import { openLedger } from '../ledger/ledger.ts';
import { completeTables } from '../routes/exports/tables.ts';
import { openFetcher, openMessageFetcher } from '../scan/open-fetcher.ts';
import { openScanning } from '../scan/open-scanning.ts';
import { startErrorOf } from '../start-error.ts';
import { dropOldHistory } from '../store/retention.ts';
import { openMailer } from '../watchlists/mailer.ts';
import { sendDeliveries } from '../watchlists/sender.ts';
import { listenForMetrics } from './listening.ts';
import { Scheduler, type SchedulerDeps } from './scheduler.ts';
import { addLedgerRefusal, addStoreMetrics, timedNotary } from './stack-metrics.ts';
import { type Chain, UpdateLoop } from './update-loop.ts';

/** Resolves when it is active or on standby. */
export async function startScheduler(config: Config, logger: Logger, world: World = {}): Promise<RunningRole> {
  await using stack = new AsyncDisposableStack();
  const events = new EventBus(logger);
  const metrics = new Metrics();
  const scanning = stack.use(await openScanning(config, { logger, events }, world));
  const { store, catalog, rulebook } = scanning;
  const now = store.clock;
  const { dataDirectory, ledgerOrigin: origin } = config;
  const ledger = stack.use(await openLedger({ dataDirectory, origin, now, store, logger, signal: world.signal }));
  const stopping = new AbortController();
  const { signal } = stopping;
  const clickhouse = await openAnalytics(config, stack, signal);
  const knowledge = stack.use(await openKnowledge(config, { store, rulebook, clickhouse, events, logger }));
  metrics.disk(dataDirectory);
  addStoreMetrics(metrics, { store, now: world.now ?? now });
  addLedgerRefusal(metrics, ledger);
  const notary = timedNotary(ledger.notary, metrics);
  const { scheduler } = stack.use(
    await openScheduling(config, { scanning, knowledge, clickhouse, notary, events, logger, metrics, now }, world),
  );
  const chains = chainsOf(knowledge, scheduler);
  const updateLoop = stack.use(new UpdateLoop({ store, events, logger, chains }));
  const readiness = new Readiness({ database: () => store.inspection.heads(), ledger: () => canSign(ledger) });
  readiness.report(() => ({ role: config.role, is_working: scheduler.isWorking }));
  const { port: metricsPort } = stack.use(await listenForMetrics(metrics, config, readiness));
  const tasks = [scheduler.run(signal), updateLoop.follow(signal), followKeys(ledger, logger, signal)];
  readiness.started();
  stack.defer(async () => {
    readiness.stopping();
    stopping.abort();
    await Promise.all(tasks);
  });
  return Object.assign(stack.move(), { store, catalog, metricsPort });
}

/**
 * What an update does: everything in order, so that what the watch finds in an event is published with it. With ClickHouse the
 * steps that wait for its answers delay neither the logs and live streams nor what is published; each chain applies the logs first.
 */
export function chainsOf(knowledge: Knowledge, scheduler: Scheduler | undefined, live: Chain = []): readonly Chain[] {
  const { alert = [], publish = [], notify = [] } = scheduler?.steps ?? {};
  const apply = [() => knowledge.catchUp(), () => knowledge.updateAdvisories()];
  if (knowledge.index) return [[...apply, ...alert, ...publish, ...notify, ...live]];
  return [[...apply, ...live], publish, [() => knowledge.catchUp(), () => knowledge.refresh(), ...alert, ...notify]];
}

export interface SchedulingDeps {
  readonly scanning: Pick<Scanning, 'store' | 'rulebook' | 'isOptedOut'>;
  readonly knowledge: Knowledge;
  /** Filled from the store. */
  readonly clickhouse: ClickHouse | undefined;
  readonly notary: Notary;
  readonly events: EventBus;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly now: () => Date;
}

export interface Scheduling extends AsyncDisposable {
  readonly scheduler: Scheduler;
  readonly poller: FeedPoller;
  /** Fetches feeds and advisories from the web. */
  readonly fetcher: Fetcher;
}

/**
 * The scheduler with its tasks: retention, sending notifications, syncing advisories, polling feeds. Imports the configured feeds. Work starts with the scheduler's
 * `run`.
 */
export async function openScheduling(config: Config, deps: SchedulingDeps, world: World): Promise<Scheduling> {
  await using stack = new AsyncDisposableStack();
  const { scanning, knowledge, clickhouse, notary, events, logger, metrics, now } = deps;
  const { store, rulebook, isOptedOut } = scanning;
  const clock = world.now ?? now;
  if (config.feedsFile) await importSubscriptions(config.feedsFile, { store, logger, now: clock });
  const fetcher = stack.use(world.fetcher ?? openFetcher(config, world));
  const sources = configuredSources(config, { rulebook, nvdGapMs: world.nvdGapMs });
  const poller = openPoller(config, { store, isOptedOut, logger, now: clock, fetcher, events });
  addPollMetrics(metrics, poller);
  const messages = stack.use(openMessageFetcher(config, world));
  const mailer = config.smtp && openMailer(config.smtp, logger);
  const { retention } = config;
  const tasks: SchedulerDeps['tasks'][number][] = [
    (own, signal) => dropOldHistory({ store: own, retention, logger, now, clock }, signal),
    (own, signal) =>
      sendDeliveries({ store: own, fetcher: messages, mailer, base: config.smtp?.base, logger, now }, signal),
  ];
  if (sources.length > 0) {
    const directory = advisoryDirectory(config);
    tasks.push((own, signal) =>
      runEnrichment({ store: own, sources, fetcher, directory, now: clock, logger, events }, signal),
    );
  }
  const { url, verifiers = [] } = config.release ?? {};
  if (url !== undefined) {
    const releases = stack.use(openReleaseFetcher(url, config, world));
    tasks.push((own, signal) => followReleases({ store: own, url, verifiers, fetcher: releases, now, logger }, signal));
  }
  // Needs no term: it has a lock of its own.
  const { dumpAddress: address } = config;
  if (address?.kind === 'folder')
    await checkDumpFolder(address.folder).catch((cause: unknown) => {
      const doing = `write dumps to ${address.folder}`;
      throw startErrorOf(cause, { doing, advice: 'choose another folder with STRATA_DUMP_URL' });
    });
  if (address) {
    const scratch = path.join(config.dataDirectory, 'dump');
    const tables = completeTables({ ...knowledge, rulebook, store, clock });
    tasks.push((_own, signal) => dumpNightly({ address, store, scratch, tables, now, logger }, signal));
  }
  // Needs no term: it has a lock of its own.
  if (clickhouse) {
    const exporting = stack.use(new Exporting({ store, clickhouse, rulebook }));
    addExportMetrics(metrics, exporting);
    tasks.push((_own, signal) => exporting.runInTerm({ logger, signal }));
  }
  // Needs no term: feeds are claimed before a poll, and recording a poll twice has no effect.
  if (config.isPollingFeeds) tasks.push((_own, signal) => poller.run(signal));
  const namesIn = namesMatching({ known: knowledge.known, rulebook, clock });
  const scheduler = stack.use(
    new Scheduler({ store, knowledge, namesMatching: namesIn, notary, events, logger, now, clock, tasks }),
  );
  const help = 'Whether this process is the active scheduler: 1 or 0';
  metrics.gauge('strata_scheduler', help, () => (scheduler.isWorking ? 1 : 0));
  const failing = 'Advisories that this process could not publish, and tries again';
  metrics.gauge('strata_advisories_failing', failing, () => scheduler.failingAdvisories);
  return Object.assign(stack.move(), { scheduler, poller, fetcher });
}
