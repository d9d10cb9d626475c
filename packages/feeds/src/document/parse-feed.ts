// Parses the body of an answer into a feed. The input is untrusted: see `readElements`.
import type { ParsedFeed } from '../feed.ts';
import { resolveAddress } from '../links/addresses.ts';
import { createLinkReader } from '../links/item-links.ts';
import { MAX_TTL_MS } from '../polling/schedule.ts';
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

/** The XML declaration is at the start; some leading junk is tolerated. */
const MAX_DECLARATION_BYTES = 1_024;
const XML_ENCODING = /<\?xml[^>]{0,200}?\sencoding\s{0,9}=\s{0,9}["']([\w.:-]{1,40})["']/i;
const HTTP_CHARSET = /(?:^|;)\s{0,9}charset\s{0,9}=\s{0,9}["']?([\w.:-]{1,40})/i;

/** Information from the HTTP response. */
interface DecodeOptions {
  readonly contentType: string | null;
  /** The last character may be incomplete. */
  readonly isTruncated: boolean;
}

/**
 * Never fails. A declared encoding is used only if the bytes are valid in it. Bytes that are valid UTF-8 with characters outside
 * ASCII are decoded as UTF-8 in any case, since hardly any text in another encoding is valid UTF-8.
 */
function decodeText(bytes: Uint8Array, { contentType, isTruncated }: DecodeOptions): string {
  const unicode = unicodeMark(bytes);
  if (unicode !== null) return new TextDecoder(unicode).decode(bytes);
  const utf8 = decode(bytes, 'utf-8', isTruncated);
  if (utf8 !== null && utf8.length < bytes.length) return utf8;
  for (const label of declaredEncodings(bytes, contentType)) {
    const text = decode(bytes, label, isTruncated);
    if (text !== null) return text;
  }
  return utf8 ?? decodeDamaged(bytes);
}

/** From a byte order mark, or from the zero bytes of `<` in UTF-16. */
function unicodeMark(bytes: Uint8Array): string | null {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if ((first === 0xff && second === 0xfe) || (first === 0x3c && second === 0)) return 'utf-16le';
  if ((first === 0xfe && second === 0xff) || (first === 0 && second === 0x3c)) return 'utf-16be';
  return null;
}

/** Excludes UTF-16: bytes in which a declaration is readable are not UTF-16. */
function declaredEncodings(bytes: Uint8Array, contentType: string | null): string[] {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, MAX_DECLARATION_BYTES));
  const labels = [
    HTTP_CHARSET.exec((contentType ?? '').slice(0, 500))?.[1],
    XML_ENCODING.exec(head.toString('latin1'))?.[1],
  ];
  return labels.filter(
    (label) => label !== undefined && !/^(?:utf-?16|utf-?8|ucs-?2|iso-10646-ucs)/i.test(label),
  ) as string[];
}

/** Null if the label is unknown or the bytes are invalid in that encoding. */
function decode(bytes: Uint8Array, label: string, isTruncated: boolean): string | null {
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes, { stream: isTruncated });
  } catch {
    return null;
  }
}

/** Decodes as UTF-8 with a few invalid characters; if most are invalid, as windows-1252. */
function decodeDamaged(bytes: Uint8Array): string {
  const text = new TextDecoder('utf-8').decode(bytes);
  let invalid = 0;
  let valid = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0xfffd) invalid++;
    else if (code > 0x7f) valid++;
  }
  return valid >= invalid ? text : new TextDecoder('windows-1252').decode(bytes);
}
