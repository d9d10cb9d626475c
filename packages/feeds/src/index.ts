// @strata/feeds: parses and polls feeds, and counts mentions of domains.

export { parseFeed } from './document/parse-feed.ts';
export type { Ask, FeedAnswer, FeedItem, FeedState, MentionKind, ParsedFeed, PollOutcome } from './feed.ts';
export { announcedFeeds } from './links/announced-feeds.ts';
export {
  type DomainMentions,
  type Mention,
  type MentionLeader,
  MentionTally,
  type MentionWindow,
  WINDOW_NAMES,
} from './mentions/mention-tally.ts';
export { readOpml, writeOpml } from './opml.ts';
export { retryAfterMs } from './polling/freshness.ts';
export { newFeed, pollFeed } from './polling/poll-feed.ts';
