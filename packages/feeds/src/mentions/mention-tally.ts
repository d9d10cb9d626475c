// Mentions by domain and UTC day for the last 64 days, in memory: leaderboards with previous ranks, days, totals. Bounded in
// domains, days and pairs of feed and domain; built from the store and disposable. docs/feeds.md has the definitions.

import { CountedDomains } from './counted-domains.ts';
import { DayCounts } from './day-counts.ts';
import { FeedPairs } from './feed-pairs.ts';
import { type LeaderKey, leadersOf, type Ranked, sumsOf } from './mention-leaders.ts';

/** Two windows of thirty days, with a margin. */
export const TALLY_DAYS = 64;
/** Days of a window, including today. */
export const WINDOWS = { '1d': 1, '7d': 7, '30d': 30 } as const;
export const WINDOW_NAMES = ['1d', '7d', '30d'] as const satisfies readonly (keyof typeof WINDOWS)[];
export type MentionWindow = (typeof WINDOW_NAMES)[number];

const DAY_MS = 86_400_000;
/** Pairs of feed and domain per domain: above this limit the feeds of a domain are undercounted. */
const PAIRS_PER_DOMAIN = 4;
/** One feed may use this fraction of the capacity: one sixteenth. */
const FEED_SHARE = 16;
/** Domains looked up between two yields: some milliseconds. */
const MARKED_AT_ONCE = 1_000;

export interface Mention {
  readonly domain: string;
  readonly feedId: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface MentionLeader {
  /** Equal counts share a rank: 1, 2, 2, 4. */
  readonly rank: number;
  readonly domain: string;
  readonly mentions: number;
  /** Feeds that mentioned it within the window. */
  readonly feeds: number;
  /** Rank in the previous window; null if not mentioned in it. */
  readonly previousRank: number | null;
}

export interface MentionBoard {
  /** Domains mentioned within the window. */
  readonly total: number;
  readonly mentions: number;
  readonly leaders: readonly MentionLeader[];
}

/** One domain in each window and on the last days, oldest first. */
export interface DomainMentions {
  readonly windows: Readonly<Record<MentionWindow, { mentions: number; previous: number; feeds: number }>>;
  readonly days: readonly number[];
}

/** Sums of a window by domain number, updated with each mention. */
interface WindowSums {
  readonly length: number;
  now: Uint32Array;
  before: Uint32Array;
  feeds: Uint32Array;
}

export class MentionTally {
  readonly #domains: CountedDomains;
  readonly #counts = new DayCounts(TALLY_DAYS);
  readonly #pairs: FeedPairs;
  /** By day modulo 64: mentions of all domains. */
  readonly #totals = new Float64Array(TALLY_DAYS);
  readonly #sums: Readonly<Record<MentionWindow, WindowSums>>;
  #today: number;
  #dropped = 0;
  #hasEarly = false;

  constructor(options: { readonly now: number; readonly maxDomains?: number }) {
    this.#today = dayOf(options.now);
    const max = options.maxDomains ?? 1_000_000;
    const pairs = max * PAIRS_PER_DOMAIN;
    this.#domains = new CountedDomains({ max, maxOfFeed: Math.ceil(max / FEED_SHARE) });
    this.#pairs = new FeedPairs({ max: pairs, maxOfFeed: Math.ceil(pairs / FEED_SHARE) });
    const sums = (length: number) => ({ length, now: empty(), before: empty(), feeds: empty() });
    this.#sums = { '1d': sums(1), '7d': sums(7), '30d': sums(30) };
  }

  /** Domains mentioned within the last 64 days. */
  get size(): number {
    return this.#domains.size;
  }

  /** Mentions that were dropped because the domain limit was reached. */
  get dropped(): number {
    return this.#dropped;
  }

  /** The oldest day that is counted, as its first millisecond. */
  get since(): number {
    return this.#oldest * DAY_MS;
  }

  get #oldest(): number {
    return this.#today - TALLY_DAYS + 1;
  }

  /** Whether a mention with a future day was counted as today's: after days have passed, only a rebuild is exact. */
  get hasEarly(): boolean {
    return this.#hasEarly;
  }

  /** Whether the clock was set back by more than a moment around midnight: windows then end in the future. */
  isAheadOf(now: number): boolean {
    return this.#today - dayOf(now) > 1;
  }

  /** Counts one mention. A future day counts as today; too old ones are ignored. */
  add({ domain, feedId, at }: Mention): void {
    const day = Math.min(dayOf(at), this.#today);
    if (dayOf(at) > day) this.#hasEarly = true;
    const age = this.#today - day;
    if (age >= TALLY_DAYS) return;
    const number = this.#domains.take(domain, { feedId, day });
    if (number === undefined) {
      this.#dropped += 1;
      return;
    }
    this.#grow(number);
    this.#counts.add(number, day, this.#domains.length);
    this.#totals[day % TALLY_DAYS] = (this.#totals[day % TALLY_DAYS] ?? 0) + 1;
    const lastDay = this.#pairs.add({ domain: number, feed: feedId, day, oldest: this.#oldest });
    for (const name of WINDOW_NAMES) {
      const sums = this.#sums[name];
      if (age < sums.length) {
        sums.now[number] = (sums.now[number] ?? 0) + 1;
        if (lastDay <= this.#today - sums.length) sums.feeds[number] = (sums.feeds[number] ?? 0) + 1;
      } else if (age < 2 * sums.length) sums.before[number] = (sums.before[number] ?? 0) + 1;
    }
  }

  /** Advances to the day of `now`, which becomes the end of the windows. Ignores a clock that was set back. Returns whether the day changed. */
  moveTo(now: number): boolean {
    const day = dayOf(now);
    if (day <= this.#today) return false;
    if (day - this.#today >= TALLY_DAYS) this.#reset();
    else for (let next = this.#today + 1; next <= day; next += 1) this.#begin(next);
    this.#dropFeeds(day);
    this.#today = day;
    this.#domains.forget(this.#oldest);
    return true;
  }

  /**
   * Marks the domains of a window that are wanted, for `leaderboard`. Yields after every batch; a domain that is first
   * mentioned after that may miss its mark.
   */
  *marks(window: MentionWindow, isWanted: (domain: string) => boolean): Generator<undefined, Uint8Array> {
    const { now, before } = this.#sums[window];
    const marks = new Uint8Array(now.length);
    for (let number = 0; number < marks.length; number += 1) {
      if (number % MARKED_AT_ONCE === MARKED_AT_ONCE - 1) yield;
      const isMentioned = (now[number] as number) + (before[number] as number) > 0;
      marks[number] = Number(isMentioned && isWanted(this.#domains.names[number] as string));
    }
    return marks;
  }

  /** The leaders of all domains, or of those with a mark. */
  leaderboard(
    window: MentionWindow,
    limit: number,
    { after, marks }: { readonly after?: LeaderKey; readonly marks?: Uint8Array | undefined } = {},
  ): MentionBoard {
    const sums = this.#sums[window];
    const { names } = this.#domains;
    const counted = marks ? sumsOf(sums, marks) : sums;
    const { ranked, total, mentions } = leadersOf(counted, { names, limit, after });
    const leader = ({ number, rank, previousRank }: Ranked): MentionLeader => ({
      rank,
      domain: this.#domains.names[number] as string,
      mentions: sums.now[number] as number,
      feeds: sums.feeds[number] as number,
      previousRank,
    });
    return { total, mentions, leaders: ranked.map(leader) };
  }

  domain(name: string, days: number): DomainMentions {
    const number = this.#domains.find(name);
    const of = (window: MentionWindow) => {
      const { now, before, feeds } = this.#sums[window];
      return number === undefined
        ? { mentions: 0, previous: 0, feeds: 0 }
        : { mentions: now[number] ?? 0, previous: before[number] ?? 0, feeds: feeds[number] ?? 0 };
    };
    return {
      windows: { '1d': of('1d'), '7d': of('7d'), '30d': of('30d') },
      days: this.#lastDays(days).map((day) => (number === undefined ? 0 : this.#counts.on(number, day))),
    };
  }

  /** Mentions of all domains on each of the last days, oldest first; `day` counts from 1970-01-01. */
  perDay(days: number): readonly { readonly day: number; readonly mentions: number }[] {
    return this.#lastDays(days).map((day) => ({ day, mentions: this.#totals[day % TALLY_DAYS] as number }));
  }

  #lastDays(days: number): number[] {
    const max = Math.min(days, TALLY_DAYS);
    return Array.from({ length: max }, (_, at) => this.#today - max + 1 + at);
  }

  #grow(number: number): void {
    if (number < this.#sums['1d'].now.length) return;
    const capacity = this.#domains.length;
    for (const name of WINDOW_NAMES) {
      const sums = this.#sums[name];
      sums.now = longer(sums.now, capacity);
      sums.before = longer(sums.before, capacity);
      sums.feeds = longer(sums.feeds, capacity);
    }
  }

  /** A new day shifts each window: its oldest day moves to the previous window, whose oldest day is dropped. */
  #begin(day: number): void {
    for (const name of WINDOW_NAMES) {
      const { length, now, before } = this.#sums[name];
      this.#counts.each(day - length, (number, count) => {
        now[number] = (now[number] as number) - count;
        before[number] = (before[number] as number) + count;
      });
      this.#counts.each(day - 2 * length, (number, count) => {
        before[number] = (before[number] as number) - count;
      });
    }
    this.#counts.clear(day);
    this.#totals[day % TALLY_DAYS] = 0;
  }

  /** Clears all counts: every counted day is too old. */
  #reset(): void {
    for (let day = 0; day < TALLY_DAYS; day += 1) this.#counts.clear(day);
    this.#totals.fill(0);
    for (const name of WINDOW_NAMES)
      for (const column of [this.#sums[name].now, this.#sums[name].before]) column.fill(0);
  }

  /** Subtracts feeds whose latest mention of a domain leaves a window when a day begins. Runs before `#today` changes. */
  #dropFeeds(day: number): void {
    const passed = day - this.#today;
    const windows = WINDOW_NAMES.map((name) => this.#sums[name]);
    this.#pairs.each((domain, last) => {
      const age = day - last;
      for (const { feeds, length } of windows)
        if (age >= length && age - passed < length) feeds[domain] = (feeds[domain] as number) - 1;
    });
  }
}

const empty = () => new Uint32Array(0);
const dayOf = (ms: number) => Math.floor(ms / DAY_MS);

function longer(column: Uint32Array, length: number): Uint32Array {
  const copy = new Uint32Array(length);
  copy.set(column);
  return copy;
}
