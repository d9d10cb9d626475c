// What @strata/store offers.
export type { AdvisoryChange, AdvisoryCounts, AdvisoryEvent, AdvisoryTable, StoredAdvisory } from './advisories.ts';
export type { Lease, SourceState, SourceStep, SourceTable, StoredSource } from './advisory-sources.ts';
export type { AnswerTable, AnswerUsage, NewReceipt, TokensUsed, UsageRow } from './answers.ts';
export { checkStore, type StoreFinding, type StoreReport } from './check-store.ts';
export { type CopiedTable, type CopyOptions, copyToPostgres } from './copy-store.ts';
export type { StoreHeads } from './counters.ts';
export type { AddedDomains, StoredChange, StoredProfile, StoredService } from './domains.ts';
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
} from './events.ts';
export type { FeedMentions, NamedDomainFacts, NamingFeed, StoredMention } from './feed-mentions.ts';
export type { FeedOffers, OfferedDomain } from './feed-offers.ts';
export { MAX_URL, type NewFeed, type PolledFeed, type RecordedPoll, type StoredFeed } from './feed-records.ts';
export type { AddedFeeds, AddOptions, DueFeed, DuePlace, FeedSummary, FeedTable } from './feeds.ts';
export type { PoolFigures, StoreCounts, StoreFigures } from './figures.ts';
export type {
  FeedChangeDay,
  FeedDay,
  FeedDomain,
  FeedMigration,
  FeedPosition,
  FeedReader,
  FeedScan,
  IndexFeed,
} from './index-feed.ts';
export { inspectStore, type StoreState } from './inspect-store.ts';
export {
  isPriority,
  isTier,
  type KeyTable,
  PRIORITIES,
  type Priority,
  type StoredKey,
  TIERS,
  type Tier,
} from './keys.ts';
export type {
  GrowLedger,
  LedgerCheckpoint,
  LedgerGrowth,
  LedgerHead,
  LedgerKeyTable,
  LedgerTable,
  LedgerTables,
} from './ledger.ts';
export type { ChangeFilter, CustomerFilter, ListedChange, ListTable, Page } from './lists.ts';
export type { Bound, OnDemandDays } from './on-demand-days.ts';
export type { RecordOptions, ScanRecord } from './plan-scan.ts';
export {
  digestOfRows,
  dumpPostgres,
  type LoadOptions,
  loadPostgres,
  openLedgerTables,
  type PostgresBackupOptions,
  type RowsText,
  receiptsInRows,
} from './postgres-backup.ts';
export { ledgerCheckpointIn, publishedReceipts } from './published-receipts.ts';
export type { Quota } from './quota.ts';
export type { QuotaUse } from './quota-batches.ts';
export type { RecordedScan, RecordScans, ScanResult } from './record-scan.ts';
export type { Reputations } from './reputations.ts';
export type { HistoryTable, RetentionTable } from './retention.ts';
export type { Claim, ScanProgress, ScanWork } from './scan-work.ts';
export type { EventKind } from './schema.ts';
export type { SegmentRecord, Segments, SegmentTotals } from './segments.ts';
export {
  type AnomalyFacts,
  SEVERITIES,
  type Severity,
  type SignalTable,
  type StoredAlert,
  type StoredAnomaly,
  type Watched,
} from './signals.ts';
export {
  backupSqlite,
  checkSqliteCopy,
  receiptsInSqliteCopy,
  type SqliteBackupOptions,
  settleSqlite,
} from './sqlite-backup.ts';
export {
  type GatewayTables,
  openStore,
  type SchedulerTables,
  type Store,
  type StoreOptions,
} from './store.ts';
export type { CopiedPart, StoreCopy } from './store-copy.ts';
export { StoreError, type StoreErrorCode } from './store-error.ts';
export { isWanted, type StreamEvent, type StreamFilter, type StreamTable } from './stream.ts';
export type { TableGrowth, TableSize } from './table-sizes.ts';
export type { TermHold, TermLock } from './term-lock.ts';
