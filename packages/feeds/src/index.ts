// What @strata/feeds offers.

export { announcedFeeds } from './announced-feeds.ts';
export type {
  Ask,
  FeedAnswer,
  FeedFormat,
  FeedItem,
  FeedState,
  MentionKind,
  NamedDomain,
  OpmlFeed,
  ParsedFeed,
  PollOptions,
  PollOutcome,
} from './feed.ts';
export { retryAfterMs } from './freshness.ts';
export {
  type DomainMentions,
  type Mention,
  type MentionBoard,
  type MentionLeader,
  MentionTally,
  type MentionWindow,
  TALLY_DAYS,
  WINDOW_NAMES,
  WINDOWS,
} from './mention-tally.ts';
export { type OpmlReading, readOpml, writeOpml } from './opml.ts';
export { type FeedReading, MAX_FEED_BYTES, type ParseFeedOptions, parseFeed } from './parse-feed.ts';
export { newFeed, pollFeed } from './poll-feed.ts';
