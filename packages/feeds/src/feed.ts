// What a feed says and what a poll of one comes to: JSON-safe values, bounded by the readers.

/** How a domain came to be named: as where an item leads, or by a link in its text. */
export type MentionKind = 'link' | 'content';

export interface NamedDomain {
  /** Registrable domain, lower-case A-labels. */
  readonly domain: string;
  readonly kind: MentionKind;
}

export interface FeedItem {
  /** Hex digest of what identifies the item within its feed: its guid, else its link, else its title and text; a guid or link that several share, with link and title. */
  readonly key: string;
  /** Absolute; null where the item leads nowhere. */
  readonly url: string | null;
  /** Plain text, at most 300 characters. */
  readonly title: string | null;
  /** Milliseconds since the epoch; null where there is none that can be believed. */
  readonly publishedAt: number | null;
  /** Each domain once, `link` before `content`; the feed's own, and trackers and redirectors, are not among them. */
  readonly domains: readonly NamedDomain[];
}

export type FeedFormat = 'rss' | 'rdf' | 'atom' | 'json';

/** What a feed asks of those who poll it. */
export interface FeedWishes {
  readonly ttlMs: number | null;
  /** UTC hours, 0–23, and days, 0 (Sunday) to 6, in which it need not be asked. */
  readonly skipHours: readonly number[];
  readonly skipDays: readonly number[];
}

export interface ParsedFeed extends FeedWishes {
  readonly format: FeedFormat;
  readonly title: string | null;
  readonly siteUrl: string | null;
  /** Newest first as far as dates tell; at most 1,000. */
  readonly items: readonly FeedItem[];
  /** Items that could not be read. */
  readonly skipped: number;
}

/**
 * What is remembered between two polls of a feed, its wishes too: most answers do not repeat them. Times are milliseconds
 * since the epoch.
 */
export interface FeedState extends FeedWishes {
  readonly url: string;
  /** `gone`: it said 410, or failed for so long that it is given up; it is not asked again. */
  readonly status: 'active' | 'gone';
  /** As the server gave it; a digest of the bytes where it gives no validators. */
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly nextPollAt: number;
  /** Polls in a row that failed. */
  readonly failures: number;
  readonly error: string | null;
  readonly title: string | null;
  readonly siteUrl: string | null;
  /** Date of the newest item seen, or when a feed that dates none last changed; null before the first item. */
  readonly lastNewAt: number | null;
  /** When its document was last read; null before the first time. */
  readonly readAt: number | null;
}

/** How a poll ended, and the state to remember. */
export interface PollOutcome {
  readonly kind: 'read' | 'unchanged' | 'gone' | 'failed';
  readonly state: FeedState;
  /** Set when `kind` is `read`. */
  readonly feed: ParsedFeed | null;
}

/** An answer as `@strata/scan`'s fetcher gives it. */
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

/** Asks the web; given in, so that one place decides what may be visited. */
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
  /** 0–1: spreads the next polls. */
  readonly random: () => number;
  readonly signal?: AbortSignal;
}

export interface OpmlFeed {
  readonly url: string;
  readonly title: string | null;
  readonly siteUrl: string | null;
}
