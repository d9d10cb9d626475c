// Polls due feeds concurrently with a limit per host, and records each outcome. A feed is claimed before its poll, so that no other
// process polls it too. If a poll was not recorded, the feed is due again when the claim expires: a crash loses nothing.

import { StoreError } from '@strata/db';
import { type Ask, type pollFeed, retryAfterMs } from '@strata/feeds';
import { FailureLog } from '@strata/http';
import type { Logger } from 'pino';
import type { EventBus } from '../events.ts';
import type { Store, StoredFeed } from '../store/index.ts';
import { createDueFeeds } from './due-feeds.ts';
import { HostQueue, hostOf } from './host-queue.ts';
import { loopPolls } from './poll-loop.ts';

export interface PollerDeps {
  readonly store: Pick<Store, 'feeds'>;
  readonly poll: typeof pollFeed;
  readonly ask: Ask;
  readonly logger: Logger;
  readonly now: () => Date;
  /** 0–1: distributes the next polls. */
  readonly random: () => number;
  readonly events: EventBus;
  /** Schedules the new domains of a recorded poll; its slot is free after this resolves. */
  readonly scan: () => Promise<void>;
}

export interface PollerOptions {
  /** Concurrent polls, in total and per host. */
  readonly concurrency: number;
  readonly perHost?: number;
  /** Retention of items. */
  readonly keepMs: number;
  /** Delay between reads of due feeds if nothing is due; a second by default. */
  readonly idleMs?: number;
}

/** The outcome of a poll. `stopped`: not recorded, because the poller stops; `error`: an internal error, already logged. */
export type PollResult = 'read' | 'unchanged' | 'gone' | 'failed' | 'stopped' | 'unrecorded';

export interface PollCounts {
  readonly polls: number;
  readonly failed: number;
  readonly unchanged: number;
  readonly items: number;
  readonly mentions: number;
}

export interface DueOptions {
  readonly onDone: (feed: StoredFeed, result: PollResult) => void;
  readonly signal: AbortSignal;
}

export interface FeedPoller {
  /** Polls due feeds until `signal` aborts; returns after the last poll has ended. */
  run(signal: AbortSignal): Promise<void>;
  /** Polls the currently due feeds once each, and ends. */
  runDue(options: DueOptions): Promise<void>;
  /** Since the start. */
  counts(): PollCounts;
}

/** Backoff of a feed that could not be recorded or is due again at once: prevents an endless loop. */
const BACKOFF_MS = 60_000;
/** Maximum backoff of a host by its Retry-After: it may apply to a single feed. */
const MAX_HOST_BACKOFF_MS = 86_400_000;
/** Longer than any poll. A feed whose process crashed is due again after this time. */
const CLAIM_MS = 120_000;

export function createPoller(deps: PollerDeps, options: PollerOptions): FeedPoller {
  const { store, logger, now } = deps;
  const failures = new FailureLog(logger, { what: 'recording feed polls' });
  const counts = { polls: 0, failed: 0, unchanged: 0, items: 0, mentions: 0 };
  const feedBackoffs = new Backoffs<number>(now, { maxMs: BACKOFF_MS });
  const hostBackoffs = new Backoffs<string>(now, { maxMs: MAX_HOST_BACKOFF_MS });

  /** Undefined if the feed is no longer due: another process polled it, or its subscription was removed. */
  async function pollClaimed(
    id: number,
    signal: AbortSignal,
  ): Promise<{ readonly feed: StoredFeed; readonly result: PollResult } | undefined> {
    const at = now();
    const claim = { now: at, until: new Date(at.getTime() + CLAIM_MS) };
    try {
      const feed = await store.feeds.schedule.claim(id, claim);
      if (!feed) return undefined;
      const result = await pollOnce(feed, { at, signal });
      if (result === 'stopped' || result === 'unrecorded') await store.feeds.schedule.release(id, claim);
      return { feed, result };
    } catch (error) {
      // Not logged for each of thousands of feeds.
      failures.failed(error);
      feedBackoffs.begin(id, BACKOFF_MS);
      return undefined;
    }
  }

  async function pollOnce(
    feed: StoredFeed,
    { at, signal }: { readonly at: Date; readonly signal: AbortSignal },
  ): Promise<PollResult> {
    try {
      const outcome = await deps.poll(feed.state, { ask, random: deps.random, now: at.getTime(), signal });
      const keepFrom = new Date(at.getTime() - options.keepMs);
      const recorded = await store.feeds.record(feed.id, outcome, { at, keepFrom });
      failures.recovered();
      if (outcome.state.nextPollAt < at.getTime() + BACKOFF_MS) feedBackoffs.begin(feed.id, BACKOFF_MS);
      counts.polls += 1;
      counts.items += recorded.items;
      counts.mentions += recorded.mentions;
      if (outcome.kind === 'failed' || outcome.kind === 'gone') {
        counts.failed += 1;
        logger.debug({ feed: feed.state.url, error: outcome.state.error, kind: outcome.kind }, 'feed not read');
      } else if (outcome.kind === 'unchanged') counts.unchanged += 1;
      deps.events.publish('feed-polled', recorded);
      await scan();
      return outcome.kind;
    } catch (error) {
      if (signal.aborted) return 'stopped';
      if (error instanceof StoreError) failures.failed(error);
      else logger.error({ err: error, feed: feed.state.url }, 'poll failed');
      feedBackoffs.begin(feed.id, BACKOFF_MS);
      return 'unrecorded';
    }
  }

  /** Sends a request; a rate limit of a host applies to its other feeds too. */
  const ask: Ask = async (url, request) => {
    const answer = await deps.ask(url, request);
    if (answer.kind === 'answered' && (answer.status === 429 || answer.status === 503)) {
      const waitMs = retryAfterMs(answer.headers, now().getTime()) ?? (answer.status === 429 ? BACKOFF_MS : 0);
      if (waitMs > 0) hostBackoffs.begin(hostOf(answer.url), waitMs);
    }
    return answer;
  };

  /** A failure here does not affect the poll, which is recorded: later polls catch up. */
  async function scan(): Promise<void> {
    try {
      await deps.scan();
    } catch (error) {
      logger.error({ err: error }, 'the work after a poll failed');
    }
  }

  return {
    run: (signal) => loop({ signal }),
    runDue: ({ onDone, signal }) => loop({ signal, done: new Set(), onDone }),
    counts: () => ({ ...counts }),
  };

  function loop({ signal, done, onDone }: LoopOptions): Promise<void> {
    const queue = new HostQueue({ perHost: options.perHost ?? 2, isBackingOff: (host) => hostBackoffs.has(host) });
    const readDue = createDueFeeds({
      ...{ store, queue, now },
      isSkipped: ({ id, url }) => done?.has(id) === true || feedBackoffs.has(id) || hostBackoffs.has(hostOf(url)),
    });
    const poll = async (id: number) => {
      const polled = await pollClaimed(id, signal);
      done?.add(id);
      if (polled) onDone?.(polled.feed, polled.result);
    };
    const { concurrency, idleMs } = options;
    return loopPolls({ queue, readDue, poll, logger }, { concurrency, isEnding: done !== undefined, idleMs, signal });
  }
}

interface LoopOptions {
  readonly signal: AbortSignal;
  /** Feeds already polled: the run ends when all due feeds are among them. Undefined: it never ends. */
  readonly done?: Set<number>;
  readonly onDone?: DueOptions['onDone'];
}

export class Backoffs<Key> {
  readonly #until = new Map<Key, number>();
  readonly #now: () => Date;
  readonly #maxMs: number;

  constructor(now: () => Date, { maxMs }: { readonly maxMs: number }) {
    this.#now = now;
    this.#maxMs = maxMs;
  }

  /** Starts or extends the backoff, up to the maximum; never shortens it. */
  begin(key: Key, ms: number): void {
    const until = this.#now().getTime() + Math.min(ms, this.#maxMs);
    if (!this.has(key) || until > (this.#until.get(key) ?? 0)) this.#until.set(key, until);
  }

  /** Whether the key is in backoff. A remaining time above the maximum means that the clock was set back: the backoff is over. */
  has(key: Key): boolean {
    const until = this.#until.get(key);
    if (until === undefined) return false;
    const leftMs = until - this.#now().getTime();
    if (leftMs > 0 && leftMs <= this.#maxMs) return true;
    this.#until.delete(key);
    return false;
  }
}
