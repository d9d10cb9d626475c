// Constructs the feed poller for the service and for commands.

import { pollFeed } from '@strata/feeds';
import type { Fetcher } from '@strata/scan';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { World } from '../context.ts';
import { EventBus } from '../events.ts';
import { openFetcher } from '../scan/open-fetcher.ts';
import { openScanning } from '../scan/open-scanning.ts';
import type { Store } from '../store/index.ts';
import { createFeedScan } from './feed-scan.ts';
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
