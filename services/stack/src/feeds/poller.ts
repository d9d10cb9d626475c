// Polls feeds: takes what is due, few at once and fewer of one host, and writes what became of each. A feed is claimed before it is
// asked, so that no other process asks it too. One whose poll was not recorded is due again when the claim has ended: a kill loses
// nothing.
import { type Ask, type pollFeed, retryAfterMs } from '@strata/feeds';
import type { RecordedPoll, Store, StoredFeed } from '@strata/store';
import type { Logger } from 'pino';
import { createDueFeeds } from './due-feeds.ts';
import { HostQueue, hostOf } from './host-queue.ts';
import { loopPolls } from './poll-loop.ts';

export interface PollerDeps {
  readonly store: Pick<Store, 'feeds'>;
  readonly poll: typeof pollFeed;
  readonly ask: Ask;
  readonly logger: Logger;
  readonly now: () => Date;
  /** 0–1: spreads the next polls. */
  readonly random: () => number;
  /** Hears of each recorded poll; the next poll of that place waits for it. */
  readonly onRecorded: (recorded: RecordedPoll) => Promise<void> | void;
}

export interface PollerOptions {
  /** Polls at once, of all hosts and of one. */
  readonly concurrency: number;
  readonly perHost?: number;
  /** Items are kept this long. */
  readonly keepMs: number;
  /** How long the poller sleeps when nothing is due; a second by default. */
  readonly idleMs?: number;
}

/** How one poll ended. `stopped`: it was not recorded, since the poller stops; `trouble`: ours, already logged. */
export type PollResult = 'read' | 'unchanged' | 'gone' | 'failed' | 'stopped' | 'trouble';

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
  /** Polls what is due until `signal` aborts; returns when the last poll has ended. */
  run(signal: AbortSignal): Promise<void>;
  /** Polls what is due now, each feed once, and ends. */
  runDue(options: DueOptions): Promise<void>;
  /** Since the start. */
  counts(): PollCounts;
}

/** A feed that could not be recorded, or is due again at once, rests for so long: no mistake makes us ask without end. */
const REST_MS = 60_000;
/** A host that is asked too often rests as long as it says, up to a day: it may mean one of its feeds alone. */
const MAX_HOST_REST_MS = 86_400_000;
/** No poll takes so long. A feed whose process was killed is due again after this time. */
const CLAIM_MS = 120_000;

export function createPoller(deps: PollerDeps, options: PollerOptions): FeedPoller {
  const { store, logger, now } = deps;
  const counts = { polls: 0, failed: 0, unchanged: 0, items: 0, mentions: 0 };
  const restingFeeds = new Backoffs<number>(now, { maxMs: REST_MS });
  const restingHosts = new Backoffs<string>(now, { maxMs: MAX_HOST_REST_MS });

  /** Undefined when the feed is due no more: another process has it, or nobody subscribes to it. */
  async function pollClaimed(
    id: number,
    signal: AbortSignal,
  ): Promise<{ readonly feed: StoredFeed; readonly result: PollResult } | undefined> {
    const at = now();
    const claim = { now: at, until: new Date(at.getTime() + CLAIM_MS) };
    try {
      const feed = await store.feeds.claim(id, claim);
      if (!feed) return undefined;
      const result = await pollOnce(feed, { at, signal });
      if (result === 'stopped' || result === 'trouble') await store.feeds.release(id, claim);
      return { feed, result };
    } catch (error) {
      logger.error({ err: error, feed: id }, 'a feed could not be claimed or given back');
      restingFeeds.begin(id, REST_MS);
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
      if (outcome.state.nextPollAt < at.getTime() + REST_MS) restingFeeds.begin(feed.id, REST_MS);
      counts.polls += 1;
      counts.items += recorded.items;
      counts.mentions += recorded.mentions;
      if (outcome.kind === 'failed' || outcome.kind === 'gone') {
        counts.failed += 1;
        logger.debug({ feed: feed.state.url, error: outcome.state.error, kind: outcome.kind }, 'feed not read');
      } else if (outcome.kind === 'unchanged') counts.unchanged += 1;
      await tell(recorded);
      return outcome.kind;
    } catch (error) {
      if (signal.aborted) return 'stopped';
      logger.error({ err: error, feed: feed.state.url }, 'poll failed');
      restingFeeds.begin(feed.id, REST_MS);
      return 'trouble';
    }
  }

  /** Asks, and hears when a host is asked too often: that holds for its other feeds too. */
  const ask: Ask = async (url, request) => {
    const answer = await deps.ask(url, request);
    if (answer.kind === 'answered' && (answer.status === 429 || answer.status === 503)) {
      const waitMs = retryAfterMs(answer.headers, now().getTime()) ?? (answer.status === 429 ? REST_MS : 0);
      if (waitMs > 0) restingHosts.begin(hostOf(answer.url), waitMs);
    }
    return answer;
  };

  /** What follows from a poll has its own way to catch up: the poll itself is recorded. */
  async function tell(recorded: RecordedPoll): Promise<void> {
    try {
      await deps.onRecorded(recorded);
    } catch (error) {
      logger.error({ err: error }, 'what follows from a poll could not be done');
    }
  }

  return {
    run: (signal) => loop({ signal }),
    runDue: ({ onDone, signal }) => loop({ signal, done: new Set(), onDone }),
    counts: () => ({ ...counts }),
  };

  function loop({ signal, done, onDone }: Turns): Promise<void> {
    const queue = new HostQueue({ perHost: options.perHost ?? 2, isResting: (host) => restingHosts.has(host) });
    const look = createDueFeeds({
      ...{ store, queue, now },
      isPassed: ({ id, url }) => done?.has(id) === true || restingFeeds.has(id) || restingHosts.has(hostOf(url)),
    });
    const poll = async (id: number) => {
      const polled = await pollClaimed(id, signal);
      done?.add(id);
      if (polled) onDone?.(polled.feed, polled.result);
    };
    const { concurrency, idleMs } = options;
    return loopPolls({ queue, look, poll, logger }, { concurrency, isEnding: done !== undefined, idleMs, signal });
  }
}

interface Turns {
  readonly signal: AbortSignal;
  /** Those that had their turn: when all that are due are among them it is over. Without it, it never is. */
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

  /** Leaves it alone for so long, or for the most that is allowed; never for less than before. */
  begin(key: Key, ms: number): void {
    const until = this.#now().getTime() + Math.min(ms, this.#maxMs);
    if (!this.has(key) || until > (this.#until.get(key) ?? 0)) this.#until.set(key, until);
  }

  /** Whether it rests. One that would for longer than any may was begun by a clock that has gone back since, and is over. */
  has(key: Key): boolean {
    const until = this.#until.get(key);
    if (until === undefined) return false;
    const leftMs = until - this.#now().getTime();
    if (leftMs > 0 && leftMs <= this.#maxMs) return true;
    this.#until.delete(key);
    return false;
  }
}
