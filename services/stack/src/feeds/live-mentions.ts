// The tally of mentions in a running service: counted from the store when it starts, then following what polls write, our own
// and those of other processes.
import { type Mention, MentionTally } from '@strata/feeds';
import type { AnswerCache } from '@strata/http';
import type { Store } from '@strata/store';
import type { Logger } from 'pino';
import { tags } from '../live-index.ts';

export interface LiveMentionsParts {
  readonly store: Pick<Store, 'feeds'>;
  readonly logger: Logger;
  readonly now: () => Date;
  /** Hears which domains were mentioned since, after they are counted; undefined: any may count otherwise than before. */
  readonly onMentions: (domains: ReadonlySet<string> | undefined) => void;
}

/** Mentions read at once. */
const AT_ONCE = 5_000;

export class LiveMentions {
  readonly #parts: LiveMentionsParts;
  #tally: MentionTally;
  /** The last mention that is counted. */
  #lastId = 0;
  #epoch = 0;

  private constructor(parts: LiveMentionsParts) {
    this.#parts = parts;
    this.#tally = new MentionTally({ now: parts.now().getTime() });
  }

  static async open(parts: LiveMentionsParts): Promise<LiveMentions> {
    const live = new LiveMentions(parts);
    const startedAt = performance.now();
    await live.#countAnew();
    const ms = Math.round(performance.now() - startedAt);
    parts.logger.info({ domains: live.#tally.size, ms }, 'mentions counted');
    return live;
  }

  /** Windows end with the present day: with a new one any domain counts otherwise than before. */
  tally(): MentionTally {
    if (this.#tally.moveTo(this.#parts.now().getTime())) this.#parts.onMentions(undefined);
    return this.#tally;
  }

  /** Takes in what the store has told since. One at a time: the pulse sees to it. */
  async catchUp(): Promise<void> {
    const { store, onMentions } = this.#parts;
    if ((await store.feeds.mentions.epoch()) !== this.#epoch) {
      await this.#countAnew();
      onMentions(undefined);
      return;
    }
    this.tally();
    for (;;) {
      const mentions = await store.feeds.mentions.since(this.#lastId, AT_ONCE);
      if (mentions.length === 0) return;
      for (const mention of mentions) this.#tally.add(mention);
      this.#lastId = mentions.at(-1)?.id ?? this.#lastId;
      onMentions(new Set(mentions.map(({ domain }) => domain)));
    }
  }

  /** The old tally answers until the new one is whole. */
  async #countAnew(): Promise<void> {
    const { mentions } = this.#parts.store.feeds;
    const tally = new MentionTally({ now: this.#parts.now().getTime() });
    // Before anything else is read: what is taken away meanwhile has us count once more.
    const epoch = await mentions.epoch();
    const upToId = await mentions.latestId();
    let place = { at: tally.since, id: 0 };
    for (;;) {
      const page: readonly (Mention & { readonly id: number })[] = await mentions.page(place, {
        upToId,
        limit: AT_ONCE,
      });
      const last = page.at(-1);
      if (!last) break;
      for (const mention of page) tally.add(mention);
      place = last;
      // Requests have their turn between two pages.
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#tally = tally;
    this.#lastId = upToId;
    this.#epoch = epoch;
  }
}

/** Tells the answers in memory which domains were mentioned. */
export function forgetMentions(answers: AnswerCache, named: ReadonlySet<string> | undefined): void {
  answers.invalidate(tags.mentions[0]);
  if (named) for (const domain of named) answers.invalidate(tags.mentionsOf(domain));
  else answers.invalidate(tags.mentionsOfAny[0]);
}
