// Mentions by domain and UTC day for the last 64 days, in memory: leaderboards with the place held before, days, totals.
// Bounded in domains, days and pairs of feed and domain; fed from the store, thrown away at will. The definitions are in docs/feeds.md.

import { CountedDomains } from './counted-domains.ts';
import { DayCounts } from './day-counts.ts';
import { FeedPairs } from './feed-pairs.ts';
import { leadersOf, type Reputation } from './mention-leaders.ts';

/** Two windows of thirty days, and some. */
export const TALLY_DAYS = 64;
/** Days of a window, today among them. */
export const WINDOWS = { '1d': 1, '7d': 7, '30d': 30 } as const;
export const WINDOW_NAMES = ['1d', '7d', '30d'] as const satisfies readonly (keyof typeof WINDOWS)[];
export type MentionWindow = (typeof WINDOW_NAMES)[number];

const DAY_MS = 86_400_000;
/** Pairs of feed and domain for each domain that there may be: beyond them the feeds of a domain are counted too low. */
const PAIRS_PER_DOMAIN = 4;
/** What one feed may take of the room: one of sixteen parts. */
const FEED_SHARE = 16;

export interface Mention {
  readonly domain: string;
  readonly feedId: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface MentionLeader {
  /** Equal ones share a place: 1, 2, 2, 4. */
  readonly rank: number;
  readonly domain: string;
  readonly mentions: number;
  /** Feeds that named it within the window. */
  readonly feeds: number;
  /** Place in the window before, or null when it was not mentioned in it. */
  readonly previousRank: number | null;
}

export interface MentionBoard {
  /** Domains mentioned within the window. */
  readonly total: number;
  readonly mentions: number;
  readonly leaders: readonly MentionLeader[];
}

/** One domain in the windows and over the last days, oldest first. */
export interface DomainMentions {
  readonly windows: Readonly<Record<MentionWindow, { mentions: number; previous: number; feeds: number }>>;
  readonly days: readonly number[];
}

/** Sums of a window by domain number, kept as mentions come. */
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
  #leftOut = 0;
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

  /** Mentions of domains for which there was no room. */
  get leftOut(): number {
    return this.#leftOut;
  }

  /** The oldest day that is counted, as its first millisecond. */
  get since(): number {
    return this.#oldest * DAY_MS;
  }

  get #oldest(): number {
    return this.#today - TALLY_DAYS + 1;
  }

  /** Whether a mention of a day to come was counted as one of today: when days have passed, only a new count is right. */
  get hasEarly(): boolean {
    return this.#hasEarly;
  }

  /** Whether the clock has gone back by more than moments about midnight: windows end with days that are still to come. */
  isAheadOf(now: number): boolean {
    return this.#today - dayOf(now) > 1;
  }

  /** Takes in one mention. Only the clock begins a day: one of a day to come counts as today's; what is too old is not counted. */
  add({ domain, feedId, at }: Mention): void {
    const day = Math.min(dayOf(at), this.#today);
    if (dayOf(at) > day) this.#hasEarly = true;
    const age = this.#today - day;
    if (age >= TALLY_DAYS) return;
    const number = this.#domains.take(domain, { feedId, day });
    if (number === undefined) {
      this.#leftOut += 1;
      return;
    }
    this.#widen(number);
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

  /** Lets days pass: windows end with the day of `now`. A clock that went back changes nothing. Returns whether a day has passed. */
  moveTo(now: number): boolean {
    const day = dayOf(now);
    if (day <= this.#today) return false;
    if (day - this.#today >= TALLY_DAYS) this.#beginAnew();
    else for (let next = this.#today + 1; next <= day; next += 1) this.#begin(next);
    this.#dropFeeds(day);
    this.#today = day;
    this.#domains.forget(this.#oldest);
    return true;
  }

  leaderboard(window: MentionWindow, limit: number): MentionBoard {
    const sums = this.#sums[window];
    const { standings, total, mentions } = leadersOf(sums, { names: this.#domains.names, limit });
    const leader = ({ number, rank, previousRank }: Reputation): MentionLeader => ({
      rank,
      domain: this.#domains.names[number] as string,
      mentions: sums.now[number] as number,
      feeds: sums.feeds[number] as number,
      previousRank,
    });
    return { total, mentions, leaders: standings.map(leader) };
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

  #widen(number: number): void {
    if (number < this.#sums['1d'].now.length) return;
    const room = this.#domains.length;
    for (const name of WINDOW_NAMES) {
      const sums = this.#sums[name];
      sums.now = longer(sums.now, room);
      sums.before = longer(sums.before, room);
      sums.feeds = longer(sums.feeds, room);
    }
  }

  /** With a new day one leaves each window for the one before it, and one leaves that. */
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

  /** Nothing of what was counted is young enough. */
  #beginAnew(): void {
    for (let day = 0; day < TALLY_DAYS; day += 1) this.#counts.clear(day);
    this.#totals.fill(0);
    for (const name of WINDOW_NAMES)
      for (const column of [this.#sums[name].now, this.#sums[name].before]) column.fill(0);
  }

  /** Feeds whose latest mention of a domain leaves a window when a day begins. Before `#today` moves. */
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
