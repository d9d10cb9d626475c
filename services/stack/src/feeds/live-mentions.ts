// The tally of mentions in a running service: counted from the store at the start, then updated with the mentions of all
// processes. Counting runs in short slices in the background: neither requests nor the update loop wait for it.

import { setTimeout as delay, setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type Mention, MentionTally } from '@strata/feeds';
import { FailureLog } from '@strata/http';
import type { Logger } from 'pino';
import type { EventBus } from '../events.ts';
import { SharedRun } from '../shared-run.ts';
import type { Store } from '../store/index.ts';

export interface LiveMentionsDeps {
  readonly store: Pick<Store, 'feeds'>;
  readonly logger: Logger;
  readonly now: () => Date;
  readonly events: EventBus;
}

/** Mentions per read. */
const AT_ONCE = 5_000;
/** An update waits this long for work that is usually short. */
const CATCH_UP_WAIT_MS = 250;
/** A shorter recount runs immediately; a longer one uses at most a fifth of the time. */
const SHORT_COUNT_MS = 500;
const PAUSE_PER_COUNT = 4;

export class LiveMentions implements AsyncDisposable {
  readonly #deps: LiveMentionsDeps;
  readonly #failures: FailureLog;
  #tally: MentionTally;
  /** The last counted mention. */
  #lastId = 0;
  #epoch = 0;
  /** The tally is no longer exact after a clock change or early mentions. */
  #isInexact = false;
  #countedAt = 0;
  #countTookMs = 0;
  readonly #updates = new SharedRun(() => this.#updateOnce());
  readonly #stopping = new AbortController();

  private constructor(deps: LiveMentionsDeps) {
    this.#deps = deps;
    this.#failures = new FailureLog(deps.logger, { what: 'counting mentions' });
    this.#tally = new MentionTally({ now: deps.now().getTime() });
  }

  static async open(deps: LiveMentionsDeps): Promise<LiveMentions> {
    const live = new LiveMentions(deps);
    await live.#recount();
    deps.logger.info({ domains: live.#tally.size, ms: Math.round(live.#countTookMs) }, 'mentions counted');
    return live;
  }

  /** The current tally. Windows end with the present day: a new day may change any domain's counts. */
  tally(): MentionTally {
    const now = this.#deps.now().getTime();
    if (this.#tally.isAheadOf(now)) this.#isInexact = true;
    if (this.#tally.moveTo(now)) {
      if (this.#tally.hasEarly) this.#isInexact = true;
      this.#deps.events.publish('mentions-counted');
    }
    return this.#tally;
  }

  /**
   * Counts the mentions stored before this call; resolves when that is done, or after a short wait while it continues in the
   * background. Failures are logged; the next call retries.
   */
  async catchUp(): Promise<void> {
    const updated = this.#updates.start();
    const waiting = new AbortController();
    const waited = delay(CATCH_UP_WAIT_MS, undefined, { signal: waiting.signal }).catch(() => {});
    await Promise.race([updated, waited]);
    waiting.abort();
  }

  async #updateOnce(): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    try {
      await this.#update();
      this.#failures.recovered();
    } catch (error) {
      this.#failures.failed(error);
    }
  }

  async #update(): Promise<void> {
    const { store, events } = this.#deps;
    this.tally();
    const isOld = this.#isInexact || (await store.feeds.mentions.epoch()) !== this.#epoch;
    if (isOld && this.#mayRecount()) {
      await this.#recount();
      events.publish('mentions-counted');
    }
    while (!this.#stopping.signal.aborted) {
      const mentions = await store.feeds.mentions.since(this.#lastId, AT_ONCE);
      if (mentions.length === 0) return;
      for (const mention of mentions) this.#tally.add(mention);
      this.#lastId = mentions.at(-1)?.id ?? this.#lastId;
      events.publish('mentions-counted', new Set(mentions.map(({ domain }) => domain)));
      await yieldToEventLoop();
    }
  }

  /** Each removal requests a recount; several in a row share one. */
  #mayRecount(): boolean {
    const pauseMs = this.#countTookMs < SHORT_COUNT_MS ? 0 : this.#countTookMs * PAUSE_PER_COUNT;
    return performance.now() - this.#countedAt >= pauseMs;
  }

  /** The old tally is used until the new one is complete. */
  async #recount(): Promise<void> {
    const { mentions } = this.#deps.store.feeds;
    const startedAt = performance.now();
    const tally = new MentionTally({ now: this.#deps.now().getTime() });
    // Read first: a removal during the recount triggers another one.
    const epoch = await mentions.epoch();
    const upToId = await mentions.latestId();
    let position = { at: tally.since, id: 0 };
    while (!this.#stopping.signal.aborted) {
      const page: readonly (Mention & { readonly id: number })[] = await mentions.page(position, {
        upToId,
        limit: AT_ONCE,
      });
      const last = page.at(-1);
      if (!last) break;
      for (const mention of page) tally.add(mention);
      position = last;
      // Serves requests between two pages.
      await yieldToEventLoop();
    }
    if (this.#stopping.signal.aborted) return;
    this.#tally = tally;
    this.#lastId = upToId;
    this.#epoch = epoch;
    this.#isInexact = false;
    this.#countedAt = performance.now();
    this.#countTookMs = this.#countedAt - startedAt;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#updates.ended();
  }
}
