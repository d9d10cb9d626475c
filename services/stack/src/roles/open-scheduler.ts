// Constructs the scheduler: what it syncs, what it polls, and who asks the web for it.
import type { Metrics, Notary } from '@strata/http';
import type { Fetcher } from '@strata/scan';
import type { RecordedPoll } from '@strata/store';
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
import { dropOldHistory } from '../store/retention.ts';
import { Scheduler, type SchedulerDeps } from './scheduler.ts';

export interface SchedulerNeeds {
  readonly scanning: Pick<Scanning, 'store' | 'rulebook' | 'isOptedOut'>;
  readonly knowledge: Knowledge;
  readonly notary: Notary;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly now: () => Date;
  readonly onAlert?: () => void;
  /** Hears that a step of a sync or a poll has brought something that is told with the next beat. */
  readonly onNews?: () => void;
  readonly onPolled?: (recorded: RecordedPoll) => void;
}

export interface Scheduling extends AsyncDisposable {
  readonly scheduler: Scheduler;
  readonly poller: FeedPoller;
  /** Asks the web for documents: feeds, and what publishers of advisories say. */
  readonly fetcher: Fetcher;
}

/** Subscribes to the feeds that the settings name. Nothing works yet: the scheduler's `run` does. */
export async function openScheduler(config: Config, needs: SchedulerNeeds, world: World): Promise<Scheduling> {
  await using stack = new AsyncDisposableStack();
  const { scanning, knowledge, notary, logger, now, onAlert = () => {}, onNews = () => {} } = needs;
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
      needs.onPolled?.(recorded);
      if (recorded.mentions > 0) onNews();
    },
  });
  addPollMetrics(needs.metrics, poller);
  const { retention } = config;
  const tasks: SchedulerDeps['tasks'][number][] = [
    (own, signal) => dropOldHistory({ store: own, retention, logger, now, clock }, signal),
  ];
  if (sources.length > 0) {
    const directory = advisoryDirectory(config);
    tasks.push((own, signal) =>
      runEnrichment({ store: own, sources, fetcher, directory, now: clock, logger, onStep: onNews }, signal),
    );
  }
  // A feed is claimed before it is polled, and what is recorded twice changes nothing: it needs no term.
  if (config.isPollingFeeds) tasks.push((_own, signal) => poller.run(signal));
  const scheduler = stack.use(new Scheduler({ store, knowledge, notary, logger, now, clock, onAlert, tasks }));
  const help = 'Whether this process is the scheduler that works: 1 or 0';
  needs.metrics.gauge('strata_scheduler', help, () => (scheduler.isWorking ? 1 : 0));
  const owned = stack.move();
  return { scheduler, poller, fetcher, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
