// The stored form of feeds and items, with the length limits of their texts.
import type { FeedItem, FeedState, ParsedFeed } from '@strata/feeds';
import type { Selectable } from 'kysely';
import type { Database } from '../schema.ts';

/** A subscription. */
export interface StoredFeed {
  readonly id: number;
  readonly state: FeedState;
  /** It is being removed, or merged into another feed. */
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

/** The outcome of a poll, as far as it is stored. */
export interface PolledFeed {
  readonly state: FeedState;
  readonly feed: Pick<ParsedFeed, 'items'> | null;
}

/** The result of recording a poll. `removed`: the subscription was removed in the meantime; nothing was stored. */
export interface RecordedPoll {
  readonly kind: 'recorded' | 'merged' | 'removed';
  readonly items: number;
  readonly mentions: number;
}

/** Longest stored URL: the common limit of servers and browsers. */
export const MAX_URL = 2_048;
export const MAX_TITLE = 300;
const MAX_ERROR = 500;
/** A truncated validator would be a different one, so a longer one is not stored. */
const MAX_VALIDATOR = 1_024;

/** Truncates a text without splitting a surrogate pair. */
export function cutText(text: string | null, max: number): string | null {
  return text === null ? null : text.slice(0, max).toWellFormed();
}

/** The text if it is short enough, else null. */
export function textWithin(text: string | null, max: number): string | null {
  return text !== null && text.length <= max ? text.toWellFormed() : null;
}

export function stateRow(state: FeedState) {
  return {
    status: state.status,
    etag: textWithin(state.etag, MAX_VALIDATOR),
    last_modified: textWithin(state.lastModified, MAX_VALIDATOR),
    next_poll_at: Math.round(state.nextPollAt),
    failures: state.failures,
    error: cutText(state.error, MAX_ERROR),
    title: cutText(state.title, MAX_TITLE),
    site_url: textWithin(state.siteUrl, MAX_URL),
    last_new_at: state.lastNewAt,
    read_at: state.readAt,
    ttl_ms: state.ttlMs,
    skip_hours: bitsOf(state.skipHours),
    skip_days: bitsOf(state.skipDays),
  };
}

/** A set of numbers below 31 as a bit set. */
function bitsOf(numbers: readonly number[]): number {
  return numbers.reduce((bits, number) => bits | (1 << number), 0);
}

function numbersOf(bits: number): number[] {
  return Array.from({ length: 31 }, (_, number) => number).filter((number) => bits & (1 << number));
}

export function itemRow({ key, url, title, publishedAt }: FeedItem) {
  return { key, url: textWithin(url, MAX_URL), title: cutText(title, MAX_TITLE), published_at: publishedAt };
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
