// The composition root of the scheduler's tasks: syncing advisories, polling feeds, retention.
import type { Metrics, Notary } from '@strata/http';
import type { Fetcher } from '@strata/scan';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { Scanning, World } from '../context.ts';
import { runEnrichment } from '../enrichment/enrichment.ts';
import { advisoryDirectory } from '../enrichment/open-enrichment.ts';
import { configuredSources } from '../enrichment/sources.ts';
import { addPollMetrics } from '../feeds/feed-metrics.ts';
import { openPoller } from '../feeds/open-poller.ts';
import type { FeedPoller } from '../feeds/poller.ts';
import { importSubscriptions } from '../feeds/subscriptions.ts';
import type { Knowledge } from '../index/knowledge.ts';
import { openFetcher } from '../scan/open-fetcher.ts';
import type { RecordedPoll } from '../store/index.ts';
import { dropOldHistory } from '../store/retention.ts';
import { Scheduler, type SchedulerDeps } from './scheduler.ts';

export interface OpenSchedulerDeps {
  readonly scanning: Pick<Scanning, 'store' | 'rulebook' | 'isOptedOut'>;
  readonly knowledge: Knowledge;
  readonly notary: Notary;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly now: () => Date;
  readonly onAlert?: () => void;
  /** Called after a sync step or a poll stored data that the next update publishes. */
  readonly onUpdate?: () => void;
  readonly onPolled?: (recorded: RecordedPoll) => void;
}

export interface Scheduling extends AsyncDisposable {
  readonly scheduler: Scheduler;
  readonly poller: FeedPoller;
  /** Fetches feeds and advisories from the web. */
  readonly fetcher: Fetcher;
}

/** Imports the configured feeds. Work starts with the scheduler's `run`. */
export async function openScheduler(config: Config, deps: OpenSchedulerDeps, world: World): Promise<Scheduling> {
  await using stack = new AsyncDisposableStack();
  const { scanning, knowledge, notary, logger, now, onAlert = () => {}, onUpdate = () => {} } = deps;
  const { store, rulebook, isOptedOut } = scanning;
  const clock = world.now ?? now;
  if (config.feedsFile) await importSubscriptions(config.feedsFile, { store, logger, now: clock });
  const fetcher = stack.use(world.fetcher ?? openFetcher(config, world));
  const sources = configuredSources(config, { rulebook, nvdGapMs: world.nvdGapMs });
  const poller = openPoller(config, {
    store,
    isOptedOut,
    logger,
    now: clock,
    fetcher,
    onRecorded: (recorded) => {
      deps.onPolled?.(recorded);
      if (recorded.mentions > 0) onUpdate();
    },
  });
  addPollMetrics(deps.metrics, poller);
  const { retention } = config;
  const tasks: SchedulerDeps['tasks'][number][] = [
    (own, signal) => dropOldHistory({ store: own, retention, logger, now, clock }, signal),
  ];
  if (sources.length > 0) {
    const directory = advisoryDirectory(config);
    tasks.push((own, signal) =>
      runEnrichment({ store: own, sources, fetcher, directory, now: clock, logger, onStep: onUpdate }, signal),
    );
  }
  // Needs no term: feeds are claimed before a poll, and recording a poll twice has no effect.
  if (config.isPollingFeeds) tasks.push((_own, signal) => poller.run(signal));
  const scheduler = stack.use(new Scheduler({ store, knowledge, notary, logger, now, clock, onAlert, tasks }));
  const help = 'Whether this process is the active scheduler: 1 or 0';
  deps.metrics.gauge('strata_scheduler', help, () => (scheduler.isWorking ? 1 : 0));
  const owned = stack.move();
  return { scheduler, poller, fetcher, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
