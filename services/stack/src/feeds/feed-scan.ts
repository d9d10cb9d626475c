// Adds newly observed domains in feeds to the scan schedule: limited per day, without opted-out domains.

import { SharedRun } from '../shared-run.ts';
import type { OfferedDomain, Store } from '../store/index.ts';

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
