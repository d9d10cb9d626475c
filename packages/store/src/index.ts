// What @strata/store offers.

export type { AnswerTable, AnswerUsage, NewReceipt, TokensUsed, UsageRow } from './inference/answers.ts';
export type { Reputations } from './inference/reputations.ts';
export type { SegmentRecord, Segments, SegmentTotals } from './inference/segments.ts';
export type { EventKind } from './schema.ts';
export type { AddedDomains, StoredChange, StoredProfile, StoredService } from './stack/domains/domains.ts';
export type { Bound, OnDemandDays } from './stack/domains/on-demand-days.ts';
export type {
  AdvisoryChange,
  AdvisoryCounts,
  AdvisoryEvent,
  AdvisoryTable,
  StoredAdvisory,
} from './stack/enrichment/advisories.ts';
export type { Lease, SourceState, SourceStep, SourceTable, StoredSource } from './stack/enrichment/advisory-sources.ts';
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
} from './stack/events/events.ts';
export type { StoreHeads } from './stack/events/heads.ts';
export type {
  FeedChangeDay,
  FeedDay,
  FeedDomain,
  FeedMigration,
  FeedPosition,
  FeedReader,
  FeedScan,
  IndexFeed,
} from './stack/events/index-feed.ts';
export {
  type AnomalyFacts,
  SEVERITIES,
  type Severity,
  type SignalTable,
  type StoredAlert,
  type StoredAnomaly,
  type Watched,
} from './stack/events/signals.ts';
export { isWanted, type StreamEvent, type StreamFilter, type StreamTable } from './stack/events/stream.ts';
export type { FeedMentions, NamedDomainFacts, NamingFeed, StoredMention } from './stack/feeds/feed-mentions.ts';
export type { FeedOffers, OfferedDomain } from './stack/feeds/feed-offers.ts';
export {
  MAX_URL,
  type NewFeed,
  type PolledFeed,
  type RecordedPoll,
  type StoredFeed,
} from './stack/feeds/feed-records.ts';
export type {
  AddedFeeds,
  AddOptions,
  DueFeed,
  DuePosition,
  FeedSummary,
  FeedTable,
} from './stack/feeds/feeds.ts';
export type { StoreCounts, StoreFigures } from './stack/figures.ts';
export type { ChangeFilter, CustomerFilter, ListedChange, ListTable, Page } from './stack/history/lists.ts';
export type { HistoryTable, RetentionTable } from './stack/history/retention.ts';
export type { LedgerCheckpoint } from './stack/ledger/ledger.ts';
export { type RestoreOptions, restorePostgres } from './stack/ledger/ledger-copies.ts';
export {
  ledgerCheckpointIn,
  publishedReceipts,
  receiptsInRows,
  receiptsInSqliteCopy,
} from './stack/ledger/published-receipts.ts';
export type { RecordOptions, ScanRecord } from './stack/scans/plan-scan.ts';
export type { RecordedScan, RecordScans, ScanResult } from './stack/scans/record-scan.ts';
export type { Claim, ScanProgress, ScanWork } from './stack/scans/scan-work.ts';
export { stackSchema } from './stack-schema.ts';
export {
  type GatewayTables,
  openStore,
  type SchedulerTables,
  type Store,
  type StoreOptions,
} from './store.ts';
