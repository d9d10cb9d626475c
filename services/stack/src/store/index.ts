// The store of the stack service, for its parts and for the CLI, benches and tests (`@strata/stack/store`).

export type { RecordOptions, ScanRecord } from '@strata/detect';
export type { AddedDomains, StoredChange, StoredProfile, StoredService } from './domains/domains.ts';
export type { Bound, OnDemandDays } from './domains/on-demand-days.ts';
export type {
  AdvisoryChange,
  AdvisoryCounts,
  AdvisoryEvent,
  AdvisoryTable,
  StoredAdvisory,
} from './enrichment/advisories.ts';
export type { Lease, SourceState, SourceStep, SourceTable, StoredSource } from './enrichment/advisory-sources.ts';
export type {
  AdvisoryTouched,
  AnomalyFound,
  ChangeConfirmed,
  DomainChanged,
  DomainExposed,
  DomainRemoved,
  FeedService,
  PostureRegressed,
  StoredEvent,
} from './events/events.ts';
export type { StoreHeads } from './events/heads.ts';
export type {
  FeedChangeDay,
  FeedDay,
  FeedDomain,
  FeedMigration,
  FeedPosition,
  FeedReader,
  FeedScan,
  IndexFeed,
} from './events/index-feed.ts';
export {
  type AnomalyFacts,
  alertKey,
  SEVERITIES,
  type Severity,
  type SignalTable,
  type StoredAlert,
  type StoredAnomaly,
  type Watched,
} from './events/signals.ts';
export { isWanted, type StreamEvent, type StreamFilter, type StreamTable } from './events/stream.ts';
export type { FeedMentions, NamedDomainFacts, NamingFeed, StoredMention } from './feeds/feed-mentions.ts';
export type { FeedOffers, OfferedDomain } from './feeds/feed-offers.ts';
export {
  MAX_URL,
  type NewFeed,
  type PolledFeed,
  type RecordedPoll,
  type StoredFeed,
} from './feeds/feed-records.ts';
export type {
  AddedFeeds,
  AddOptions,
  DueFeed,
  DuePosition,
  FeedSummary,
  FeedTable,
} from './feeds/feeds.ts';
export type { StoreCounts, StoreFigures, StoreInspection } from './figures.ts';
export type { ChangeKey, Page } from './history/change-pages.ts';
export type { ChangeFilter, CustomerFilter, ListedChange, ListTable } from './history/lists.ts';
export type { HistoryTable, RetentionTable } from './history/retention.ts';
export { type RestoreOptions, restorePostgres } from './ledger/ledger-copies.ts';
export {
  ledgerCheckpointIn,
  publishedReceipts,
  receiptsInRows,
  receiptsInSqliteCopy,
} from './ledger/published-receipts.ts';
export type { RecordedScan, RecordScans, ScanResult } from './scans/record-scan.ts';
export type { Claim, ScanProgress, ScanWork } from './scans/scan-work.ts';
export type { EventKind } from './schema.ts';
export { stackSchema } from './stack-schema.ts';
export {
  openStore,
  type SchedulerTables,
  type Store,
  type StoreOptions,
} from './store.ts';
