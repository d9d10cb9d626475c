// What a feed says and what a poll of one comes to: JSON-safe values, bounded by the readers.

/** How a domain came to be named: as where an item leads, or by a link in its text. */
export type MentionKind = 'link' | 'content';

export interface NamedDomain {
  /** Registrable domain, lower-case A-labels. */
  readonly domain: string;
  readonly kind: MentionKind;
}

export interface FeedItem {
  /** Hex digest of what identifies the item within its feed: its guid, else its link, else its title and text. */
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

export interface ParsedFeed {
  readonly format: FeedFormat;
  readonly title: string | null;
  readonly siteUrl: string | null;
  /** Newest first as far as dates tell; at most 1,000. */
  readonly items: readonly FeedItem[];
  /** Items that could not be read. */
  readonly skipped: number;
  /** What the feed asks of those who poll it. */
  readonly ttlMs: number | null;
  /** UTC hours, 0–23, and days, 0 (Sunday) to 6, in which it need not be asked. */
  readonly skipHours: readonly number[];
  readonly skipDays: readonly number[];
}

/** What is remembered between two polls of a feed. Times are milliseconds since the epoch. */
export interface FeedState {
  readonly url: string;
  /** `gone`: it said 410, or failed for so long that it is given up; it is not asked again. */
  readonly status: 'active' | 'gone';
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly nextPollAt: number;
  /** Polls in a row that failed. */
  readonly failures: number;
  readonly error: string | null;
  readonly title: string | null;
  readonly siteUrl: string | null;
  /** When the newest item that was not there before was found; null before the first. */
  readonly lastNewAt: number | null;
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

/** The state of a feed that was never polled: due at once. */
export declare function newFeed(url: string): FeedState;
/** Asks for one feed and says what became of it. Never rejects but when `signal` aborts. */
export declare function pollFeed(state: FeedState, options: PollOptions): Promise<PollOutcome>;

export interface OpmlFeed {
  readonly url: string;
  readonly title: string | null;
  readonly siteUrl: string | null;
}
/** The feeds of an OPML 1.0 or 2.0 document, nested outlines included, each once; `skipped` counts outlines with a feed address that is none. */
export declare function readOpml(
  text: string,
):
  | { readonly ok: true; readonly feeds: readonly OpmlFeed[]; readonly skipped: number }
  | { readonly ok: false; readonly problem: string };
/** OPML 2.0. */
export declare function writeOpml(
  feeds: readonly OpmlFeed[],
  options: { readonly title: string; readonly now: Date },
): string;
