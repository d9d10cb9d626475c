// Constructs the feed poller for the service and for commands.
import { pollFeed } from '@strata/feeds';
import type { Fetcher } from '@strata/scan';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { World } from '../context.ts';
import { EventBus } from '../events.ts';
import { openFetcher } from '../scan/open-fetcher.ts';
import { openScanning } from '../scan/open-scanning.ts';
import { SharedRun } from '../shared-run.ts';
import type { OfferedDomain, Store } from '../store/index.ts';
import { createPoller, type FeedPoller } from './poller.ts';

export interface FeedDeps {
  readonly store: Store;
  readonly fetcher: Fetcher;
  readonly isOptedOut: (domain: string) => boolean;
  readonly logger: Logger;
  readonly now: () => Date;
  readonly events?: EventBus;
  readonly concurrency?: number;
}

export const DAY_MS = 86_400_000;
/** Concurrent polls; two per host. */
const CONCURRENCY = 16;

/** The configured poller; does not start polling. */
export function openPoller(config: Config, deps: FeedDeps): FeedPoller {
  const { store, fetcher, isOptedOut, logger, now, events = new EventBus(logger) } = deps;
  const scan =
    config.feedScansPerDay > 0
      ? createFeedScan({ store, isOptedOut, now, perDay: config.feedScansPerDay })
      : async () => {};
  return createPoller(
    {
      store,
      logger,
      now,
      poll: pollFeed,
      ask: (url, request) => fetcher.fetch(url, request),
      random: Math.random,
      events,
      scan,
    },
    { concurrency: deps.concurrency ?? CONCURRENCY, keepMs: config.feedDays * DAY_MS },
  );
}

export interface Feeding extends AsyncDisposable {
  readonly store: Store;
  readonly poller: FeedPoller;
}

export async function openFeeding(config: Config, { logger }: { logger: Logger }, world: World = {}): Promise<Feeding> {
  await using stack = new AsyncDisposableStack();
  const { store, isOptedOut } = stack.use(await openScanning(config, { logger }, world));
  const fetcher = stack.use(world.fetcher ?? openFetcher(config, world));
  const now = world.now ?? store.clock;
  const poller = openPoller(config, { store, fetcher, isOptedOut, logger, now });
  return Object.assign(stack.move(), { store, poller });
}

export interface FeedScanDeps {
  readonly store: Pick<Store, 'feeds'> & { readonly domains: Pick<Store['domains'], 'add'> };
  readonly isOptedOut: (domain: string) => boolean;
  readonly now: () => Date;
  readonly perDay: number;
}

/** Domains per batch. */
const AT_ONCE = 500;

/**
 * Schedules waiting domains; resolves when all are scheduled, or the daily limit is reached. After a crash the same domains are
 * processed again, and those already scheduled are tracked.
 */
export function createFeedScan(deps: FeedScanDeps): () => Promise<void> {
  /** The day whose limit is reached. */
  let spentOn = '';
  // Sequential: two runs would process the same domains, and count them twice.
  const runs = new SharedRun(async () => {
    const day = deps.now().toISOString().slice(0, 10);
    while (spentOn !== day) {
      const waiting = await deps.store.feeds.offers.waiting(AT_ONCE);
      if (waiting.length === 0) return;
      if (!(await scheduleBatch(deps, waiting, day))) spentOn = day;
    }
  });
  return () => runs.start();
}

/** Returns false if the day's limit is reached. */
async function scheduleBatch(
  { store, isOptedOut, now, perDay }: FeedScanDeps,
  waiting: readonly OfferedDomain[],
  day: string,
): Promise<boolean> {
  const isWanted = ({ name, isTracked }: OfferedDomain) => !isTracked && !isOptedOut(name);
  const wanted = waiting.filter(isWanted).map(({ name }) => name);
  const taken = new Set(wanted.length > 0 ? await store.feeds.offers.take(wanted, { day, perDay }) : []);
  if (taken.size > 0) await store.domains.add(taken, { source: 'feed' });
  const processed = waiting.filter((domain) => !isWanted(domain) || taken.has(domain.name));
  await store.feeds.offers.done(processed, now());
  return taken.size === wanted.length;
}
