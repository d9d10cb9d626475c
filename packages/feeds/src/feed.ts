// Parsed feeds and poll outcomes: JSON-safe values, bounded by the parsers.

/** How an item mentions a domain: as its link, or by a link in its content. */
export type MentionKind = 'link' | 'content';

export interface NamedDomain {
  /** Registrable domain, lower-case A-labels. */
  readonly domain: string;
  readonly kind: MentionKind;
}

export interface FeedItem {
  /** Hex digest of the item's identity within its feed: its guid, else its link, else title and text; a guid or link shared by several items is combined with link and title. */
  readonly key: string;
  /** Absolute; null if the item has no link. */
  readonly url: string | null;
  /** Plain text, at most 300 characters. */
  readonly title: string | null;
  /** Milliseconds since the epoch; null if there is no plausible date. */
  readonly publishedAt: number | null;
  /** Without duplicates, `link` before `content`; excludes the feed's own domain, trackers and redirectors. */
  readonly domains: readonly NamedDomain[];
}

export type FeedFormat = 'rss' | 'rdf' | 'atom' | 'json';

/** Polling hints in a feed. */
export interface FeedHints {
  readonly ttlMs: number | null;
  /** UTC hours (0–23) and days (0 is Sunday, to 6) in which the feed should not be polled. */
  readonly skipHours: readonly number[];
  readonly skipDays: readonly number[];
}

export interface ParsedFeed extends FeedHints {
  readonly format: FeedFormat;
  readonly title: string | null;
  readonly siteUrl: string | null;
  /** Newest first where dates are known; at most 1,000. */
  readonly items: readonly FeedItem[];
  /** Items that could not be read. */
  readonly skipped: number;
}

/**
 * The state between two polls of a feed, including its hints, which most answers do not repeat. Times are milliseconds since the epoch.
 */
export interface FeedState extends FeedHints {
  readonly url: string;
  /** `gone`: the server answered 410, or polls failed for so long that polling has stopped. */
  readonly status: 'active' | 'gone';
  /** As sent by the server; a digest of the body if it sends no validators. */
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly nextPollAt: number;
  /** Consecutive failed polls. */
  readonly failures: number;
  readonly error: string | null;
  readonly title: string | null;
  readonly siteUrl: string | null;
  /** Date of the newest observed item, or when a feed without dates last changed; null before the first item. */
  readonly lastNewAt: number | null;
  /** When the document was last read; null before the first time. */
  readonly readAt: number | null;
}

/** The outcome of a poll, and the next state. */
export interface PollOutcome {
  readonly kind: 'read' | 'unchanged' | 'gone' | 'failed';
  readonly state: FeedState;
  /** Set when `kind` is `read`. */
  readonly feed: ParsedFeed | null;
}

/** An answer of `@strata/scan`'s fetcher. */
export type FeedAnswer =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly url: string;
      readonly redirects: readonly { readonly status: number; readonly url: string }[];
      readonly body: Buffer;
      readonly isTruncated: boolean;
    }
  | { readonly kind: 'failed'; readonly reason: string; readonly detail: string };

/** Sends a request; the caller's implementation decides which addresses are permitted. */
export type Ask = (
  url: string,
  request: {
    readonly headers: Readonly<Record<string, string>>;
    readonly maxBytes: number;
    readonly timeoutMs: number;
    readonly signal?: AbortSignal;
  },
) => Promise<FeedAnswer>;

export interface PollOptions {
  readonly ask: Ask;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** 0–1: distributes the next polls. */
  readonly random: () => number;
  readonly signal?: AbortSignal;
}

export interface OpmlFeed {
  readonly url: string;
  readonly title: string | null;
  readonly siteUrl: string | null;
}
