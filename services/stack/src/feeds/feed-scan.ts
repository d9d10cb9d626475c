// Domains that feeds name and that we have never heard of, given to the scan: so many a day, and never those that opted out.
import type { Store } from '@strata/store';

export interface FeedScanParts {
  readonly store: Pick<Store, 'feeds' | 'isTracked' | 'addDomains'>;
  readonly isOptedOut: (domain: string) => boolean;
  readonly now: () => Date;
  readonly perDay: number;
}

/** Takes the domains of a poll; resolves when they are in the schedule. */
export function createFeedScan({ store, isOptedOut, now, perDay }: FeedScanParts) {
  /** The day on which no more may be given. */
  let spentOn = '';
  return async (domains: readonly string[]): Promise<void> => {
    const day = now().toISOString().slice(0, 10);
    if (spentOn === day) return;
    const unknown: string[] = [];
    for (const domain of domains) {
      if (unknown.length === perDay) break;
      if (!isOptedOut(domain) && !(await store.isTracked(domain))) unknown.push(domain);
    }
    if (unknown.length === 0) return;
    const taken = await store.feeds.takeScans(unknown, { day, perDay });
    if (taken.length < unknown.length) spentOn = day;
    if (taken.length > 0) await store.addDomains(taken, { source: 'feed' });
  };
}
