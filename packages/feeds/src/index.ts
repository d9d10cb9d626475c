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
  type MentionLeader,
  MentionTally,
  type MentionWindow,
  WINDOW_NAMES,
} from './mention-tally.ts';
export { readOpml, writeOpml } from './opml.ts';
export { parseFeed } from './parse-feed.ts';
export { newFeed, pollFeed } from './poll-feed.ts';
