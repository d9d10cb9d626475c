// What @strata/store offers.

export type { CopiedPart, StoreCopy } from './db/copies/copy-manifest.ts';
export { type CopiedTable, type CopyOptions, copyToPostgres } from './db/copies/copy-to-postgres.ts';
export {
  digestOfRows,
  dumpPostgres,
  type LoadOptions,
  loadPostgres,
  type PostgresBackupOptions,
  type RowsText,
  receiptsInRows,
} from './db/copies/postgres-backup.ts';
export { ledgerCheckpointIn, publishedReceipts } from './db/copies/published-receipts.ts';
export {
  backupSqlite,
  checkSqliteCopy,
  prepareRestoredSqlite,
  receiptsInSqliteCopy,
  type SqliteBackupOptions,
} from './db/copies/sqlite-backup.ts';
export type { StoreHeads } from './db/counters.ts';
export { checkStore, type StoreFinding, type StoreReport } from './db/inspection/check-store.ts';
export type { PoolFigures, StoreCounts, StoreFigures } from './db/inspection/figures.ts';
export { inspectStore, type StoreState } from './db/inspection/inspect-store.ts';
export type { TableGrowth, TableSize } from './db/inspection/table-sizes.ts';
export { StoreError, type StoreErrorCode } from './db/store-error.ts';
export type { TermHold, TermLock } from './db/transactions/term-lock.ts';
export type { AnswerTable, AnswerUsage, NewReceipt, TokensUsed, UsageRow } from './inference/answers.ts';
export type { Reputations } from './inference/reputations.ts';
export type { SegmentRecord, Segments, SegmentTotals } from './inference/segments.ts';
export {
  isPriority,
  isTier,
  type KeyTable,
  PRIORITIES,
  type Priority,
  type StoredKey,
  TIERS,
  type Tier,
} from './keys/keys.ts';
export type { Quota } from './keys/quota.ts';
export type { QuotaUse } from './keys/quota-batches.ts';
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
export type { ChangeFilter, CustomerFilter, ListedChange, ListTable, Page } from './stack/history/lists.ts';
export type { HistoryTable, RetentionTable } from './stack/history/retention.ts';
export type { LedgerCheckpoint } from './stack/ledger/ledger.ts';
export type { RecordOptions, ScanRecord } from './stack/scans/plan-scan.ts';
export type { RecordedScan, RecordScans, ScanResult } from './stack/scans/record-scan.ts';
export type { Claim, ScanProgress, ScanWork } from './stack/scans/scan-work.ts';
export {
  type GatewayTables,
  openStore,
  type SchedulerTables,
  type Store,
  type StoreOptions,
} from './store.ts';
