// Domains that feeds name and that we have never heard of, given to the scan: so many a day, and never those that opted out.
import type { OfferedDomain, Store } from '@strata/store';

export interface FeedScanDeps {
  readonly store: Pick<Store, 'feeds' | 'addDomains'>;
  readonly isOptedOut: (domain: string) => boolean;
  readonly now: () => Date;
  readonly perDay: number;
}

/** Domains dealt with at once. */
const AT_ONCE = 500;

/**
 * Gives the scan what waits for it; resolves when that is in the schedule, or the day's number is reached. A kill in between has the
 * same domains come up again, of which those that were given are tracked by then.
 */
export function createFeedScan(deps: FeedScanDeps): () => Promise<void> {
  /** The day on which no more may be given. */
  let spentOn = '';
  let running: Promise<void> | undefined;
  let isAskedAgain = false;

  async function giveAll(): Promise<void> {
    do {
      isAskedAgain = false;
      const day = deps.now().toISOString().slice(0, 10);
      while (spentOn !== day) {
        const waiting = await deps.store.feeds.offers.waiting(AT_ONCE);
        if (waiting.length === 0) break;
        if (!(await giveSome(deps, waiting, day))) spentOn = day;
      }
    } while (isAskedAgain);
  }

  // One at a time: two would offer the same domains, and count them twice.
  return () => {
    isAskedAgain = running !== undefined;
    running ??= giveAll().finally(() => {
      running = undefined;
    });
    return running;
  };
}

/** Whether there may be more on that day. */
async function giveSome(
  { store, isOptedOut, now, perDay }: FeedScanDeps,
  waiting: readonly OfferedDomain[],
  day: string,
): Promise<boolean> {
  const isWanted = ({ name, isTracked }: OfferedDomain) => !isTracked && !isOptedOut(name);
  const wanted = waiting.filter(isWanted).map(({ name }) => name);
  const taken = new Set(wanted.length > 0 ? await store.feeds.offers.take(wanted, { day, perDay }) : []);
  if (taken.size > 0) await store.addDomains(taken, { source: 'feed' });
  const dealtWith = waiting.filter((domain) => !isWanted(domain) || taken.has(domain.name));
  await store.feeds.offers.done(dealtWith, now());
  return taken.size === wanted.length;
}
