// What @strata/feeds offers.
export { announcedFeeds } from './announced-feeds.ts';
export * from './feed.ts';
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
