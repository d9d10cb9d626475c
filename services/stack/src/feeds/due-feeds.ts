// Reads due feeds page by page: each call reads a limited number of rows, even if most are skipped.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { DueFeed, DuePosition, Store } from '../store/index.ts';
import type { HostQueue } from './host-queue.ts';

export interface DueFeedsDeps {
  readonly store: Pick<Store, 'feeds'>;
  readonly queue: HostQueue;
  readonly now: () => Date;
  /** Skip for now: in backoff, or already polled. */
  readonly isSkipped: (feed: DueFeed) => boolean;
}

export interface DueBatch {
  readonly queued: number;
  /** Whether due feeds exceeded the capacity of the queue. */
  readonly isQueueFull: boolean;
  /** Whether a complete pass over all due feeds queued none of them. */
  readonly isNothingLeft: boolean;
}

const PAGE = 1_000;
const PAGES_PER_CALL = 3;

/** Each call continues after the previous one. */
export function createDueFeeds({ store, queue, now, isSkipped }: DueFeedsDeps): () => Promise<DueBatch> {
  let after: DuePosition | undefined;
  let foundInRound = 0;
  let isQueueFull = false;

  function putAll(feeds: readonly DueFeed[]): number {
    let queued = 0;
    for (const feed of feeds) {
      if (queue.has(feed.id) || isSkipped(feed)) continue;
      if (queue.put(feed)) queued += 1;
      else isQueueFull = true;
    }
    foundInRound += queued;
    return queued;
  }

  return async () => {
    isQueueFull = false;
    for (let page = 0; page < PAGES_PER_CALL; page += 1) {
      if (after === undefined) foundInRound = 0;
      const feeds = await store.feeds.schedule.due(now(), { ...(after && { after }), limit: PAGE });
      const queued = putAll(feeds);
      after = feeds.length < PAGE ? undefined : feeds.at(-1);
      if (after === undefined) return { queued, isQueueFull, isNothingLeft: foundInRound === 0 };
      if (queued > 0) return { queued, isQueueFull, isNothingLeft: false };
      await yieldToEventLoop();
    }
    return { queued: 0, isQueueFull, isNothingLeft: false };
  };
}
