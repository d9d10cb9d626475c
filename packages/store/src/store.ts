// The store as the services see it, and how it is opened.
import { sqliteFileOf } from '@strata/db';
import type { Category } from '@strata/detect';
import { type Dialect, Kysely } from 'kysely';
import { readHeads, type StoreHeads } from './db/counters.ts';
import { openPool, type PostgresOptions, postgresDialect } from './db/dialects/postgres-dialect.ts';
import { openDatabase, sqliteDialect } from './db/dialects/sqlite-dialect.ts';
import { tracedDialect } from './db/dialects/traced-dialect.ts';
import {
  countAll,
  type PoolFigures,
  poolFigures,
  readFigures,
  type StoreCounts,
  type StoreFigures,
} from './db/inspection/figures.ts';
import { readSizes, type TableSize } from './db/inspection/table-sizes.ts';
import { TextTable } from './db/settings.ts';
import { SharedClock } from './db/transactions/shared-clock.ts';
import { guardOf, unguarded } from './db/transactions/term.ts';
import { fileLock, sessionLock, soleLock, type TermLock } from './db/transactions/term-lock.ts';
import { AnswerTable } from './inference/answers.ts';
import { type Reputations, ReputationTable } from './inference/reputations.ts';
import { type Segments, SegmentTable } from './inference/segments.ts';
import { type KeyPrefix, KeyTable } from './keys/keys.ts';
import { type Quota, QuotaTable } from './keys/quota.ts';
import { QuotaBlocks } from './keys/quota-blocks.ts';
import { migrate } from './migrations/index.ts';
import type { Database } from './schema.ts';
import { type AddedDomains, DomainTable, type StoredChange, type StoredProfile } from './stack/domains/domains.ts';
import { OnDemandDays } from './stack/domains/on-demand-days.ts';
import { AdvisoryTable } from './stack/enrichment/advisories.ts';
import { SourceTable } from './stack/enrichment/advisory-sources.ts';
import { EventTable, type StoredEvent } from './stack/events/events.ts';
import { IndexFeed } from './stack/events/index-feed.ts';
import { SignalTable } from './stack/events/signals.ts';
import { StreamTable } from './stack/events/stream.ts';
import { FeedTable } from './stack/feeds/feeds.ts';
import { ListTable } from './stack/history/lists.ts';
import { RetentionTable } from './stack/history/retention.ts';
import { LedgerCheckpoint, LedgerKeyTable, LedgerTable } from './stack/ledger/ledger.ts';
import type { RecordOptions, ScanRecord } from './stack/scans/plan-scan.ts';
import { createRecorder, type RecordedScan, type RecordScans } from './stack/scans/record-scan.ts';
import { ScanWork } from './stack/scans/scan-work.ts';

export interface StoreOptions extends PostgresOptions {
  readonly now?: () => Date;
  /** The usual time between two scans of a domain; schedule.ts says what is less usual. */
  readonly rescanAfterMs?: number;
  /** What the keys of this store begin with; `ssk_` by default. */
  readonly keyPrefix?: KeyPrefix;
}

/** What only the scheduler writes. */
export interface SchedulerTables {
  /** Anomalies and alerts. */
  readonly signals: SignalTable;
  /** The public stream. */
  readonly stream: StreamTable;
  /** Published vulnerabilities. */
  readonly advisories: AdvisoryTable;
  /** Deletes what is old. */
  readonly retention: RetentionTable;
}

/** What only the gateway of a store writes, and keeps in memory besides. */
export interface GatewayTables {
  readonly answers: AnswerTable;
  readonly reputations: Reputations;
}

/**
 * Everything that is remembered. Methods reject with StoreError when the database fails. What a resolved write says is
 * committed: a process killed afterwards has lost nothing of it.
 */
export interface Store extends SchedulerTables, AsyncDisposable {
  /** Adds names that are not known, ten thousand at a time; they are due at once. A name that comes again later in a long list is known by then. */
  addDomains(names: Iterable<string>, options: { readonly source: string }): Promise<AddedDomains>;
  /** Whether the domain is known, scanned or not. */
  isTracked(name: string): Promise<boolean>;
  /** The profile of a domain that has been scanned. */
  domain(name: string): Promise<StoredProfile | undefined>;
  /**
   * Confirmed changes, newest first, of those made at once the most important first. The order is total, so that pages
   * never skip or repeat while nothing is recorded.
   */
  changes(
    name: string,
    page: { readonly limit: number; readonly offset: number; readonly category?: Category },
  ): Promise<{
    /** Of the category where one is asked for. */
    readonly total: number;
    /** Of every category in which anything changed. */
    readonly byCategory: ReadonlyMap<Category, number>;
    readonly changes: readonly StoredChange[];
  }>;
  /**
   * Writes a scan and all that follows from it in one transaction; adds the domain when it is new. A scan that resolved
   * nothing, or that is older than the last one, is only counted. The same scan given twice changes nothing.
   */
  recordScan(scan: ScanRecord, options: RecordOptions): Promise<RecordedScan>;
  /**
   * The same of many scans, as if one after another in their order, in as few transactions as there are scans of one domain (at
   * most 256 scans each). A scan that cannot be recorded is rejected alone; where the database fails, all of its transaction are.
   */
  readonly recordScans: RecordScans;
  /** Names that are due, leased or not: never scanned first, then the longest overdue. */
  due(now: Date, limit: number): Promise<string[]>;
  /** Of these names, the ones scanned since then. */
  scannedSince(names: readonly string[], since: Date): Promise<Set<string>>;
  /** Events after a sequence number, in order; a number never comes back. */
  eventsSince(seq: number, limit: number): Promise<readonly StoredEvent[]>;
  latestSeq(): Promise<number>;
  /** Reads all of these tables: not for a start, nor for an answer. */
  counts(): Promise<StoreCounts>;
  /** Which process scans which domain. */
  readonly work: ScanWork;
  /** Names below private suffixes that requests have added today. */
  readonly onDemandDays: OnDemandDays;
  /** What time it is: on PostgreSQL the server's, the same for all processes whatever their machines' clocks say; else this machine's. */
  readonly clock: () => Date;
  /** Where every log ends now, for whoever follows what other processes write. */
  heads(): Promise<StoreHeads>;
  /** Whose turn it is to do what must be done once, among all processes of the store. */
  readonly schedulerLock: TermLock;
  /** The tables of the scheduler for whoever has this term: StoreError `superseded` when another process has a later one. */
  inTerm(term: number): SchedulerTables;
  /** Held by the one gateway of the store for as long as it works. */
  readonly gatewayLock: TermLock;
  /** The tables of the gateway for whoever has this term, as it is when they are written: else StoreError `superseded`. */
  inGatewayTerm(term: () => number): GatewayTables;
  /** What an operator watches; counts every domain that is due. */
  figures(now: Date): Promise<StoreFigures>;
  /** How large the tables that grow are, about; reads none of them. */
  sizes(): Promise<readonly TableSize[]>;
  /** Connections of this process. */
  pool(): PoolFigures;
  readonly keys: KeyTable;
  readonly texts: TextTable;
  /** On PostgreSQL large quotas are leased in blocks; disposing of the store gives back what was not spent. */
  readonly quota: Quota;
  /** Lists over all domains. */
  readonly lists: ListTable;
  /** What the index is built from and follows. */
  readonly feed: IndexFeed;
  /** Subscribed feeds, and what their items name. */
  readonly feeds: FeedTable;
  /** What the inference service remembers. */
  readonly answers: AnswerTable;
  /** What workers made for gateways, by receipts that both signed. */
  readonly segments: Segments;
  /** How far workers are trusted. */
  readonly reputations: Reputations;
  /** How far the sources of advisories have come. */
  readonly sources: SourceTable;
  /** The ledger of all nodes of this database; undefined on a file, which has one process, whose ledger is a folder. */
  readonly ledger: { readonly log: LedgerTable; readonly keys: LedgerKeyTable } | undefined;
  /** What is kept here of a ledger in a folder. */
  ledgerCheckpoint(origin: string): LedgerCheckpoint;
}

/** Connections of the ledger's own, opened when it is used: scans that wait for their turn must not keep it waiting. */
const LEDGER_POOL_SIZE = 3;
const DEFAULT_RESCAN_AFTER_MS = 24 * 3_600_000;

/**
 * Opens `sqlite:<path>` (`sqlite::memory:` for a passing one), creating the file, or `postgres://…`, and brings the schema up to date.
 * Rejects with StoreError when the file is damaged, not a database, not writable or from a newer version.
 */
export async function openStore(url: string, options: StoreOptions = {}): Promise<Store> {
  const pool = isPostgresUrl(url) ? openPool(url, { ...options, isPipelined: true }) : undefined;
  const db = new Kysely<Database>({
    dialect: pool ? tracedDialect(postgresDialect(pool), 'postgresql') : tracedDialect(sqliteDialectOf(url), 'sqlite'),
  });
  let clock = () => new Date();
  let now = options.now ?? clock;
  let keys: KeyTable;
  try {
    await migrate(db);
    if (pool) clock = (await SharedClock.open(db)).now;
    now = options.now ?? clock;
    keys = await KeyTable.open(db, { now, prefix: options.keyPrefix ?? 'ssk_' });
  } catch (error) {
    await db.destroy();
    throw error;
  }

  const isShared = pool !== undefined;
  const ledgerDb = isShared
    ? new Kysely<Database>({
        dialect: tracedDialect(
          postgresDialect(openPool(url, { poolSize: LEDGER_POOL_SIZE, isPipelined: true })),
          'postgresql',
        ),
      })
    : undefined;
  const rescanAfterMs = options.rescanAfterMs ?? DEFAULT_RESCAN_AFTER_MS;
  const recordScans = createRecorder(db, { rescanAfterMs });
  const counted = new QuotaTable(db);
  const blocks = isShared ? new QuotaBlocks(counted) : undefined;
  const schedulerLock = isShared ? sessionLock(db, 'scheduler', url) : soleLock(db, 'scheduler');
  const gatewayLock = isShared ? sessionLock(db, 'gateway', url) : fileLock(db, 'gateway', fileOf(url));
  const domains = new DomainTable(db, now);
  const events = new EventTable(db);
  return {
    addDomains: (names, { source }) => domains.add(names, source),
    isTracked: (name) => domains.isTracked(name),
    domain: (name) => domains.profile(name),
    changes: (name, page) => domains.changes(name, page),
    recordScan: async (scan, options) => {
      const [result] = await recordScans([scan], options);
      if (result?.status !== 'fulfilled') throw result?.reason;
      return result.value;
    },
    recordScans,
    due: (at, limit) => domains.due(at.getTime(), limit),
    scannedSince: (names, since) => domains.scannedSince(names, since.getTime()),
    eventsSince: (seq, limit) => events.since(seq, limit),
    latestSeq: () => events.latestSeq(),
    counts: () => countAll(db),
    work: new ScanWork(db, { rescanAfterMs }),
    onDemandDays: new OnDemandDays(db),
    clock,
    heads: () => readHeads(db),
    schedulerLock,
    inTerm(term) {
      const guard = guardOf('scheduler-term', () => term);
      return {
        signals: new SignalTable(db, guard),
        stream: new StreamTable(db, guard),
        advisories: new AdvisoryTable(db, guard),
        retention: new RetentionTable(db, guard),
      };
    },
    gatewayLock,
    inGatewayTerm(term) {
      // The lock of a file is there as long as the process: nobody else can have begun.
      const guard = isShared ? guardOf('gateway-term', term) : unguarded;
      return { answers: new AnswerTable(db, guard), reputations: new ReputationTable(db, guard) };
    },
    figures: (at) => readFigures(db, at.getTime()),
    sizes: () => readSizes(db),
    pool: () => poolFigures(pool),
    keys,
    texts: new TextTable(db),
    quota: blocks ?? counted,
    lists: new ListTable(db),
    feed: new IndexFeed(db),
    signals: new SignalTable(db),
    stream: new StreamTable(db),
    feeds: new FeedTable(db),
    answers: new AnswerTable(db),
    segments: new SegmentTable(db),
    reputations: new ReputationTable(db),
    advisories: new AdvisoryTable(db),
    retention: new RetentionTable(db),
    sources: new SourceTable(db),
    ledger: ledgerDb && { log: new LedgerTable(ledgerDb), keys: new LedgerKeyTable(ledgerDb) },
    ledgerCheckpoint: (origin) => new LedgerCheckpoint(db, origin),
    async [Symbol.asyncDispose]() {
      await blocks?.[Symbol.asyncDispose]();
      await schedulerLock[Symbol.asyncDispose]();
      await gatewayLock[Symbol.asyncDispose]();
      await ledgerDb?.destroy();
      await db.destroy();
    },
  };
}

const isPostgresUrl = (url: string) => /^postgres(?:ql)?:\/\//.test(url);

function sqliteDialectOf(url: string): Dialect {
  return sqliteDialect(openDatabase(fileOf(url)));
}

function fileOf(url: string): string {
  const file = sqliteFileOf(url);
  if (file !== undefined) return file;
  throw new Error('the database URL must begin with sqlite: and name a file, or with postgres:// and name a server');
}
