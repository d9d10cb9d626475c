// The store of the stack service, for its parts and for the CLI, benches and tests (`@strata/stack/store`).

export type { RecordOptions, ScanRecord } from '@strata/detect';
export { markCopied } from './copied-file.ts';
export type { StoredChange, StoredProfile } from './domains/domains.ts';
export type { Bound } from './domains/on-demand-days.ts';
export type { AdvisoryChange, AdvisoryCounts, AdvisoryEvent, AdvisoryTable } from './enrichment/advisories.ts';
export type { Lease, SourceState, StoredSource } from './enrichment/advisory-sources.ts';
export type { StoreHeads } from './events/heads.ts';
export type { FeedDay, FeedReader, IndexFeed } from './events/index-feed.ts';
export * from './events/signals.ts';
export type { ChangeConfirmed, DomainChanged, StoredEvent } from './events/stored-event.ts';
export { isWanted, type StreamEvent, type StreamFilter, type StreamTable } from './events/stream.ts';
export type { NamingFeed } from './feeds/feed-mentions.ts';
export type { FeedOffers, OfferedDomain } from './feeds/feed-offers.ts';
export { MAX_URL, type NewFeed, type PolledFeed, type RecordedPoll, type StoredFeed } from './feeds/feed-records.ts';
export type { DueFeed, DuePosition } from './feeds/feed-schedule.ts';
export type { AddedFeeds } from './feeds/feeds.ts';
export type { StoreInspection } from './figures.ts';
export type { CurrentService } from './history/bulk-rows.ts';
export type { ChangeKey, Page } from './history/change-pages.ts';
export type { ChangeFilter, CustomerFilter, ListedChange, ListTable } from './history/lists.ts';
export {
  MAX_COUNTED,
  type PivotKey,
  type RecordKey,
  type RecordTable,
  type RecordUser,
  type StoredRecord,
} from './history/records.ts';
export type { HistoryTable, RetentionTable } from './history/retention.ts';
export type { JobTable } from './jobs/job-table.ts';
export type { Segment, SegmentTable } from './keys/segment-table.ts';
export { type RestoreOptions, restorePostgres } from './ledger/ledger-copies.ts';
export * from './ledger/published-receipts.ts';
export type { RecordedScan } from './scans/record-scan.ts';
export type { ScanWork } from './scans/scan-work.ts';
export { stackSchema } from './stack-schema.ts';
export { openStore, type Store } from './store.ts';
export type { AddressProblem } from './watchlists/addresses.ts';
export type { Attempted, DeliveryTable, DueDelivery, StoredDelivery } from './watchlists/delivery-table.ts';
export type { MatchedTo, NotificationTable, StoredNotification } from './watchlists/notification-table.ts';
export type { FollowedDomains, QueryList, WatchlistContent, WatchlistTable } from './watchlists/watchlist-table.ts';
export { DELIVERY_KINDS, DELIVERY_STATES, type DeliveryState } from './watchlists/watchlist-tables.ts';
