// The tally of mentions in a running service: counted from the store when it starts, then following what polls write, our own
// and those of other processes. Counting is a task of its own, in short turns: neither requests nor the pulse wait for it.
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { type Mention, MentionTally } from '@strata/feeds';
import type { AnswerCache } from '@strata/http';
import type { Store } from '@strata/store';
import type { Logger } from 'pino';
import { FailureLog } from '../failure-log.ts';
import { tags } from '../index/live-index.ts';

export interface LiveMentionsDeps {
  readonly store: Pick<Store, 'feeds'>;
  readonly logger: Logger;
  readonly now: () => Date;
  /** Hears which domains were mentioned since, after they are counted; undefined: any may count otherwise than before. */
  readonly onMentions: (domains: ReadonlySet<string> | undefined) => void;
}

/** Mentions read at once. */
const AT_ONCE = 5_000;
/** A beat waits so long for what is mostly over in a moment. */
const PATIENCE_MS = 250;
/** All mentions are counted anew at once where that takes less; else a fifth of the time is spent on it at most. */
const SHORT_COUNT_MS = 500;
const REST_PER_COUNT = 4;

export class LiveMentions implements AsyncDisposable {
  readonly #deps: LiveMentionsDeps;
  readonly #trouble: FailureLog;
  #tally: MentionTally;
  /** The last mention that is counted. */
  #lastId = 0;
  #epoch = 0;
  /** Days have passed, or come back, that the tally was not made for. */
  #isDoubtful = false;
  #countedAt = 0;
  #countTookMs = 0;
  #running: Promise<void> | undefined;
  #isNewsWaiting = false;
  readonly #stopping = new AbortController();

  private constructor(deps: LiveMentionsDeps) {
    this.#deps = deps;
    this.#trouble = new FailureLog(deps.logger, { what: 'counting mentions' });
    this.#tally = new MentionTally({ now: deps.now().getTime() });
  }

  static async open(deps: LiveMentionsDeps): Promise<LiveMentions> {
    const live = new LiveMentions(deps);
    await live.#countAnew();
    deps.logger.info({ domains: live.#tally.size, ms: Math.round(live.#countTookMs) }, 'mentions counted');
    return live;
  }

  /** Windows end with the present day: with a new one any domain counts otherwise than before. */
  tally(): MentionTally {
    const now = this.#deps.now().getTime();
    if (this.#tally.isAheadOf(now)) this.#isDoubtful = true;
    if (this.#tally.moveTo(now)) {
      if (this.#tally.hasEarly) this.#isDoubtful = true;
      this.#deps.onMentions(undefined);
    }
    return this.#tally;
  }

  /**
   * Takes in what the store has told before this call, and resolves when that is done or after a moment: the rest goes on
   * beside whoever waits. Failures are logged; the next call tries again.
   */
  async catchUp(): Promise<void> {
    this.#isNewsWaiting = true;
    this.#running ??= this.#followAll().finally(() => {
      this.#running = undefined;
    });
    const patience = new AbortController();
    const waited = delay(PATIENCE_MS, undefined, { signal: patience.signal }).catch(() => {});
    await Promise.race([this.#running, waited]);
    patience.abort();
  }

  async #followAll(): Promise<void> {
    try {
      while (this.#isNewsWaiting && !this.#stopping.signal.aborted) {
        this.#isNewsWaiting = false;
        await this.#follow();
      }
      this.#trouble.recovered();
    } catch (error) {
      this.#trouble.failed(error);
    }
  }

  async #follow(): Promise<void> {
    const { store, onMentions } = this.#deps;
    this.tally();
    const isOld = this.#isDoubtful || (await store.feeds.mentions.epoch()) !== this.#epoch;
    if (isOld && this.#mayCountAnew()) {
      await this.#countAnew();
      onMentions(undefined);
    }
    while (!this.#stopping.signal.aborted) {
      const mentions = await store.feeds.mentions.since(this.#lastId, AT_ONCE);
      if (mentions.length === 0) return;
      for (const mention of mentions) this.#tally.add(mention);
      this.#lastId = mentions.at(-1)?.id ?? this.#lastId;
      onMentions(new Set(mentions.map(({ domain }) => domain)));
      await nextTurn();
    }
  }

  /** Each removal asks for a new count: of many in a row some share one. */
  #mayCountAnew(): boolean {
    const restMs = this.#countTookMs < SHORT_COUNT_MS ? 0 : this.#countTookMs * REST_PER_COUNT;
    return performance.now() - this.#countedAt >= restMs;
  }

  /** The old tally answers until the new one is whole. */
  async #countAnew(): Promise<void> {
    const { mentions } = this.#deps.store.feeds;
    const startedAt = performance.now();
    const tally = new MentionTally({ now: this.#deps.now().getTime() });
    // Before anything else is read: what is taken away meanwhile has us count once more.
    const epoch = await mentions.epoch();
    const upToId = await mentions.latestId();
    let place = { at: tally.since, id: 0 };
    while (!this.#stopping.signal.aborted) {
      const page: readonly (Mention & { readonly id: number })[] = await mentions.page(place, {
        upToId,
        limit: AT_ONCE,
      });
      const last = page.at(-1);
      if (!last) break;
      for (const mention of page) tally.add(mention);
      place = last;
      // Requests have their turn between two pages.
      await nextTurn();
    }
    if (this.#stopping.signal.aborted) return;
    this.#tally = tally;
    this.#lastId = upToId;
    this.#epoch = epoch;
    this.#isDoubtful = false;
    this.#countedAt = performance.now();
    this.#countTookMs = this.#countedAt - startedAt;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }
}

/** Tells the answers in memory which domains were mentioned. */
export function forgetMentions(answers: AnswerCache, named: ReadonlySet<string> | undefined): void {
  answers.invalidate(tags.mentions[0]);
  if (named) for (const domain of named) answers.invalidate(tags.mentionsOf(domain));
  else answers.invalidate(tags.mentionsOfAny[0]);
}
