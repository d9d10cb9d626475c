// What is due, read on page by page and round after round: however much of it is passed over, a look reads only so many rows.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DueFeed, DuePlace, Store } from '@strata/store';
import type { HostQueue } from './host-queue.ts';

export interface DueFeedsDeps {
  readonly store: Pick<Store, 'feeds'>;
  readonly queue: HostQueue;
  readonly now: () => Date;
  /** Not now: it rests, or had its turn. */
  readonly isPassed: (feed: DueFeed) => boolean;
}

export interface Look {
  /** Feeds that were put into the queue. */
  readonly found: number;
  /** Whether some were due for which there was no room. */
  readonly isCrowded: boolean;
  /** Whether all that is due was looked at from the first on, and none of it put into the queue. */
  readonly isNothingLeft: boolean;
}

const PAGE = 1_000;
const PAGES_A_LOOK = 3;

/** Each call goes on where the one before ended. */
export function createDueFeeds({ store, queue, now, isPassed }: DueFeedsDeps): () => Promise<Look> {
  let after: DuePlace | undefined;
  let foundInRound = 0;
  let isCrowded = false;

  function putAll(feeds: readonly DueFeed[]): number {
    let found = 0;
    for (const feed of feeds) {
      if (queue.has(feed.id) || isPassed(feed)) continue;
      if (queue.put(feed)) found += 1;
      else isCrowded = true;
    }
    foundInRound += found;
    return found;
  }

  return async () => {
    isCrowded = false;
    for (let page = 0; page < PAGES_A_LOOK; page += 1) {
      if (after === undefined) foundInRound = 0;
      const feeds = await store.feeds.due(now(), { ...(after && { after }), limit: PAGE });
      const found = putAll(feeds);
      after = feeds.length < PAGE ? undefined : feeds.at(-1);
      if (after === undefined) return { found, isCrowded, isNothingLeft: foundInRound === 0 };
      if (found > 0) return { found, isCrowded, isNothingLeft: false };
      await nextTurn();
    }
    return { found: 0, isCrowded, isNothingLeft: false };
  };
}
