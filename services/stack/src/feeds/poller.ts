// Polls feeds: takes what is due, few at once and fewer of one host, and writes what became of each. A feed whose poll was not
// recorded is simply due again: a kill loses nothing.
import type { Ask, pollFeed } from '@strata/feeds';
import type { RecordedPoll, Store, StoredFeed } from '@strata/store';
import type { Logger } from 'pino';
import { HostQueue } from './host-queue.ts';

export interface PollerParts {
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

/** Feeds taken in at once, and those that may wait: a host that has thousands must not keep the others out. */
const BATCH = 1_000;
const MOST_WAITING = 10_000;
/** How long is slept when nothing is due. */
const IDLE_MS = 1_000;
/** A feed that could not be recorded, or is due again at once, rests for so long: no mistake makes us ask without end. */
const REST_MS = 60_000;

export function createPoller(parts: PollerParts, options: PollerOptions): FeedPoller {
  const { store, logger, now } = parts;
  const counts = { polls: 0, failed: 0, unchanged: 0, items: 0, mentions: 0 };
  const restingUntil = new Map<number, number>();

  async function pollOnce(feed: StoredFeed, signal: AbortSignal): Promise<PollResult> {
    const at = now();
    try {
      const { ask, random } = parts;
      const outcome = await parts.poll(feed.state, { ask, random, now: at.getTime(), signal });
      const keepFrom = new Date(at.getTime() - options.keepMs);
      const recorded = await store.feeds.record(feed.id, outcome, { at, keepFrom });
      if (outcome.state.status === 'active' && outcome.state.nextPollAt <= at.getTime()) rest(feed.id);
      counts.polls += 1;
      counts.items += recorded.items;
      counts.mentions += recorded.mentions;
      if (outcome.kind === 'failed' || outcome.kind === 'gone') {
        counts.failed += 1;
        logger.debug({ feed: feed.state.url, error: outcome.state.error, kind: outcome.kind }, 'feed not read');
      } else if (outcome.kind === 'unchanged') counts.unchanged += 1;
      await parts.onRecorded(recorded);
      return outcome.kind;
    } catch (error) {
      if (signal.aborted) return 'stopped';
      logger.error({ err: error, feed: feed.state.url }, 'poll failed');
      rest(feed.id);
      return 'trouble';
    }
  }

  function rest(feedId: number): void {
    restingUntil.set(feedId, now().getTime() + REST_MS);
  }

  function isResting(feedId: number): boolean {
    const until = restingUntil.get(feedId);
    if (until === undefined || until > now().getTime()) return until !== undefined;
    restingUntil.delete(feedId);
    return false;
  }

  /** Feeds that are due and not among those that are passed over. */
  async function fresh(queue: HostQueue, isPassed: (feedId: number) => boolean): Promise<StoredFeed[]> {
    const known = queue.size + restingUntil.size;
    if (known >= MOST_WAITING) return [];
    const due = await store.feeds.due(now(), known + BATCH).catch((error: unknown) => {
      logger.error({ err: error }, 'the feeds that are due could not be read');
      return [];
    });
    return due.filter(({ id }) => !queue.has(id) && !isResting(id) && !isPassed(id));
  }

  async function drive(onDone: (feed: StoredFeed, result: PollResult) => void, ending: Ending): Promise<void> {
    const { signal, done } = ending;
    const queue = new HostQueue(options.perHost ?? 2);
    const pause = new Pause();
    const stop = () => pause.end();
    signal.addEventListener('abort', stop);
    const underWay = new Set<Promise<void>>();
    let lookAgainAt = 0;
    while (!signal.aborted) {
      for (let feed = queue.take(); feed; feed = queue.take()) {
        const taken = feed;
        const polling = pollOnce(taken, signal).then((result) => {
          underWay.delete(polling);
          queue.release(taken.id);
          done?.add(taken.id);
          onDone(taken, result);
          pause.end();
        });
        underWay.add(polling);
        if (underWay.size >= options.concurrency) break;
      }
      if (underWay.size < options.concurrency && performance.now() >= lookAgainAt) {
        const found = await fresh(queue, (id) => done?.has(id) === true);
        for (const feed of found) queue.put(feed);
        if (found.length > 0) continue;
        if (done && underWay.size === 0 && queue.size === 0) break;
        lookAgainAt = performance.now() + IDLE_MS;
      }
      await pause.begin(underWay.size >= options.concurrency ? undefined : lookAgainAt - performance.now());
      // With nothing left to do, one that ends at the last may not wait for the next look.
      if (done && underWay.size === 0) lookAgainAt = 0;
    }
    signal.removeEventListener('abort', stop);
    await Promise.all(underWay);
  }

  return {
    run: (signal) => drive(() => {}, { signal }),
    runDue: ({ onDone, signal }) => drive(onDone, { signal, done: new Set() }),
    counts: () => ({ ...counts }),
  };
}

interface Ending {
  readonly signal: AbortSignal;
  /** Those that had their turn: when all that are due are among them it is over. Without it, it never is. */
  readonly done?: Set<number>;
}

/** A wait that another part ends early. */
class Pause {
  #end: (() => void) | undefined;

  /** Without a time it lasts until it is ended. */
  begin(ms: number | undefined): Promise<void> {
    return new Promise((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(() => this.end(), Math.max(0, ms));
      this.#end = () => {
        clearTimeout(timer);
        this.#end = undefined;
        resolve();
      };
    });
  }

  end(): void {
    this.#end?.();
  }
}
