// Feeds as they are stored: what is given of them and what is read again, with the bounds of their texts.
import type { Selectable } from 'kysely';
import type { Database } from '../../schema.ts';

/** What is remembered between two polls. Times are milliseconds since the epoch. */
export interface SubscribedState {
  readonly url: string;
  readonly status: 'active' | 'gone';
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly nextPollAt: number;
  readonly failures: number;
  readonly error: string | null;
  readonly title: string | null;
  readonly siteUrl: string | null;
  readonly lastNewAt: number | null;
  readonly readAt: number | null;
  readonly ttlMs: number | null;
  /** UTC hours, 0–23, and days, 0–6. */
  readonly skipHours: readonly number[];
  readonly skipDays: readonly number[];
}

/** A subscription. */
export interface StoredFeed {
  readonly id: number;
  readonly state: SubscribedState;
  /** It is being removed, or made one with another. */
  readonly isLeaving: boolean;
  readonly addedAt: Date;
  readonly polledAt: Date | null;
  readonly items: number;
  readonly mentions: number;
}

export interface NewFeed {
  readonly url: string;
  readonly title?: string | null;
  readonly siteUrl?: string | null;
}

export interface NewItem {
  readonly key: string;
  readonly url: string | null;
  readonly title: string | null;
  readonly publishedAt: number | null;
  readonly domains: readonly { readonly domain: string; readonly kind: 'link' | 'content' }[];
}

/** How a poll ended: a poll's outcome as the feed package gives it. */
export interface PolledFeed {
  readonly state: SubscribedState;
  readonly feed: { readonly items: readonly NewItem[] } | null;
}

/** What a poll brought. `removed`: nobody subscribes to the feed any more; nothing of it is kept. */
export interface RecordedPoll {
  readonly kind: 'recorded' | 'merged' | 'removed';
  readonly items: number;
  readonly mentions: number;
}

/** Longest address that is kept: what servers and browsers take. */
export const MAX_URL = 2_048;
export const MAX_TITLE = 300;
const MAX_ERROR = 500;
/** A validator cut short would be another one: a longer one is not kept at all. */
const MAX_VALIDATOR = 1_024;

/** At most so many characters, never half of one. */
export function cutText(text: string | null, max: number): string | null {
  return text === null ? null : text.slice(0, max).toWellFormed();
}

/** The text when it is short enough, else nothing. */
export function keptWhole(text: string | null, max: number): string | null {
  return text !== null && text.length <= max ? text.toWellFormed() : null;
}

export function stateRow(state: SubscribedState) {
  return {
    status: state.status,
    etag: keptWhole(state.etag, MAX_VALIDATOR),
    last_modified: keptWhole(state.lastModified, MAX_VALIDATOR),
    next_poll_at: Math.round(state.nextPollAt),
    failures: state.failures,
    error: cutText(state.error, MAX_ERROR),
    title: cutText(state.title, MAX_TITLE),
    site_url: keptWhole(state.siteUrl, MAX_URL),
    last_new_at: state.lastNewAt,
    read_at: state.readAt,
    ttl_ms: state.ttlMs,
    skip_hours: bitsOf(state.skipHours),
    skip_days: bitsOf(state.skipDays),
  };
}

/** A set of numbers below 31 as a number of its own. */
function bitsOf(numbers: readonly number[]): number {
  return numbers.reduce((bits, number) => bits | (1 << number), 0);
}

function numbersOf(bits: number): number[] {
  return Array.from({ length: 31 }, (_, number) => number).filter((number) => bits & (1 << number));
}

export function itemRow({ key, url, title, publishedAt }: NewItem) {
  return { key, url: keptWhole(url, MAX_URL), title: cutText(title, MAX_TITLE), published_at: publishedAt };
}

export function storedFeed(row: Selectable<Database['feeds']>): StoredFeed {
  return {
    id: row.id,
    state: {
      url: row.url,
      status: row.status === 'active' ? 'active' : 'gone',
      etag: row.etag,
      lastModified: row.last_modified,
      nextPollAt: row.next_poll_at,
      failures: row.failures,
      error: row.error,
      title: row.title,
      siteUrl: row.site_url,
      lastNewAt: row.last_new_at,
      readAt: row.read_at,
      ttlMs: row.ttl_ms,
      skipHours: numbersOf(row.skip_hours),
      skipDays: numbersOf(row.skip_days),
    },
    isLeaving: row.status === 'leaving',
    addedAt: new Date(row.added_at),
    polledAt: row.polled_at === null ? null : new Date(row.polled_at),
    items: row.items,
    mentions: row.mentions,
  };
}
