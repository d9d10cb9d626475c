// Parses the body of an answer into a feed. The input is untrusted: see `readElements`.

import type { ParsedFeed } from '../feed.ts';
import { resolveAddress } from '../links/addresses.ts';
import { createLinkReader } from '../links/item-links.ts';
import { MAX_TTL_MS } from '../polling/schedule.ts';
import { decodeText } from './decode-text.ts';
import { plainTitle, readItems } from './feed-items.ts';
import type { RawFeed, RawReading } from './raw-feed.ts';
import { readJsonFeed } from './read-json.ts';
import { readXmlFeed } from './read-xml.ts';

/**
 * Bytes of a feed that are processed: the most hostile document of this size takes a quarter of a second. Ordinary feeds have a
 * fiftieth of it; of longer ones only the first items are read, which are nearly always the newest.
 */
export const MAX_FEED_BYTES = 2_000_000;

const PERIOD_MS: ReadonlyMap<string, number> = new Map([
  ['hourly', 3_600_000],
  ['daily', 86_400_000],
  ['weekly', 7 * 86_400_000],
  ['monthly', 30 * 86_400_000],
  ['yearly', 365 * 86_400_000],
]);
const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

export interface ParseFeedOptions {
  /** The HTTP header; null if missing. */
  readonly contentType: string | null;
  /** The URL of the body: relative URLs resolve against it. */
  readonly url: string;
  /** Other URLs of the publisher: the requested one, redirects, and the previous site. */
  readonly ownUrls?: readonly (string | null)[];
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The body was truncated: an XML feed is read as far as possible. */
  readonly isTruncated: boolean;
}

export type FeedReading =
  | { readonly ok: true; readonly feed: ParsedFeed }
  /** A sentence for the operator of the feed list. */
  | { readonly ok: false; readonly problem: string };

/** Reads RSS 0.90 to 2.0, Atom 0.3 and 1.0, and JSON Feed 1.0 and 1.1. Never throws. */
export function parseFeed(body: Uint8Array, options: ParseFeedOptions): FeedReading {
  const { contentType, url, now } = options;
  const isTruncated = options.isTruncated || body.length > MAX_FEED_BYTES;
  const text = decodeText(body.subarray(0, MAX_FEED_BYTES), { contentType, isTruncated });
  const reading = readDocument(text, isTruncated);
  if (!reading.ok) return reading;
  const { feed } = reading;
  if (isTruncated && feed.items.length === 0) {
    return { ok: false, problem: 'The document was truncated before the end of its first item.' };
  }
  const base = feed.base === undefined ? url : (resolveAddress(feed.base, url) ?? url);
  const siteUrl = feed.link === undefined ? null : resolveAddress(feed.link, base);
  const reader = createLinkReader(base, [url, siteUrl, ...(options.ownUrls ?? [])]);
  const { items, skipped } = readItems(feed.items, { reader, now });
  return {
    ok: true,
    feed: {
      format: feed.format,
      title: plainTitle(feed.title),
      siteUrl,
      items,
      skipped: feed.skipped + skipped,
      ttlMs: ttlOf(feed),
      skipHours: hoursOf(feed.skipHours),
      skipDays: daysOf(feed.skipDays),
    },
  };
}

function readDocument(text: string, isTruncated: boolean): RawReading {
  const first = /\S/.exec(text)?.[0];
  if (first === undefined) return { ok: false, problem: 'The document is empty.' };
  if (first !== '{' && first !== '[') return readXmlFeed(text, { isTruncated });
  if (!isTruncated) return readJsonFeed(text);
  const why = `was truncated in transit or has more than ${MAX_FEED_BYTES} bytes`;
  return { ok: false, problem: `The document is JSON that ${why}: a part of it cannot be read.` };
}

/** RSS's `ttl`, or the syndication module's period divided by its frequency; the longer one if both exist. */
function ttlOf({ ttlMinutes, updatePeriod, updateFrequency }: RawFeed): number | null {
  const period = PERIOD_MS.get(updatePeriod?.toLowerCase() ?? '');
  const frequency = updateFrequency !== undefined && updateFrequency >= 1 ? updateFrequency : 1;
  const hints = [(ttlMinutes ?? 0) * 60_000, period === undefined ? 0 : period / frequency];
  const longest = Math.max(...hints.filter((hint) => hint > 0 && hint !== Infinity), 0);
  return longest === 0 ? null : Math.min(Math.round(longest), MAX_TTL_MS);
}

/** RSS 0.91 counts hours from 1 to 24, later versions from 0 to 23: 24 is midnight in both. */
function hoursOf(hours: readonly number[]): number[] {
  const valid = hours.filter((hour) => Number.isInteger(hour) && hour >= 0 && hour <= 24).map((hour) => hour % 24);
  return [...new Set(valid)].sort((a, b) => a - b);
}

function daysOf(days: readonly string[]): number[] {
  const valid = days.map((day) => DAYS.indexOf(day.trim().toLowerCase())).filter((day) => day !== -1);
  return [...new Set(valid)].sort((a, b) => a - b);
}
