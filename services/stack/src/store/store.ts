// The store: its interface for the services, and `openStore`.
import {
  fileLock,
  guardOf,
  KeyTable,
  ledgerCheckpoint,
  openDatabase,
  openPool,
  type PostgresOptions,
  pooledDialect,
  type Quota,
  QuotaBlocks,
  QuotaTable,
  SharedClock,
  sessionLock,
  soleLock,
  type TermLock,
  TextTable,
} from '@strata/db';
import { type CheckpointCopy, type LedgerTables, ledgerTablesIn } from '@strata/log';
import { Kysely } from 'kysely';
import { refuseCopied } from './copied-file.ts';
import { DomainTable } from './domains/domains.ts';
import { OnDemandDays } from './domains/on-demand-days.ts';
import { AdvisoryTable } from './enrichment/advisories.ts';
import { SourceTable } from './enrichment/advisory-sources.ts';
import { EventTable } from './events/events.ts';
import { IndexFeed } from './events/index-feed.ts';
import { SignalTable } from './events/signals.ts';
import { StreamTable } from './events/stream.ts';
import { FeedTable } from './feeds/feeds.ts';
import { inspectionOf, type StoreInspection } from './figures.ts';
import { BulkRows } from './history/bulk-rows.ts';
import { ListTable } from './history/lists.ts';
import { RecordTable } from './history/records.ts';
import { RetentionTable } from './history/retention.ts';
import { JobTable } from './jobs/job-table.ts';
import { KeyUsage } from './keys/key-usage.ts';
import { SegmentTable } from './keys/segment-table.ts';
import { migrations } from './migrations/index.ts';
import { createRecorder, type RecordScans } from './scans/record-scan.ts';
import { ScanWork } from './scans/scan-work.ts';
import type { Database } from './schema.ts';
import { AddressTable } from './watchlists/addresses.ts';
import { DeliveryTable } from './watchlists/delivery-table.ts';
import { NotificationTable } from './watchlists/notification-table.ts';
import { WatchedFacts } from './watchlists/watched-facts.ts';
import { WatchlistTable } from './watchlists/watchlist-table.ts';

export interface StoreOptions extends PostgresOptions {
  readonly now?: () => Date;
  /** The usual interval between two scans of a domain; schedule.ts adapts it. */
  readonly rescanAfterMs?: number;
}

/** Tables that only the scheduler writes. */
export interface SchedulerTables {
  /** Anomalies and alerts. */
  readonly signals: SignalTable;
  readonly stream: StreamTable;
  /** Published vulnerabilities. */
  readonly advisories: AdvisoryTable;
  /** Deletes old history. */
  readonly retention: RetentionTable;
  /** What rules of watchlists reported. */
  readonly notifications: NotificationTable;
  /** Messages to channels of watchlists. */
  readonly deliveries: DeliveryTable;
}

/** The persistent state. Methods reject with StoreError when the database fails. A resolved write is committed and survives a kill. */
export interface Store extends SchedulerTables, AsyncDisposable {
  /** The tracked domains, their profiles and changes. */
  readonly domains: DomainTable;
  /** The event log. */
  readonly events: EventTable;
  /**
   * Records scans in order, in transactions of at most 256 scans of distinct domains; unknown domains are added. A scan that
   * resolved nothing, or is older than the last one, is only counted. Recording the same scan twice changes nothing. A scan that
   * cannot be recorded is rejected alone; if the database fails, all scans of the transaction are.
   */
  readonly recordScans: RecordScans;
  /** Figures and positions for operators and for other processes. */
  readonly inspection: StoreInspection;
  /** Scan leases. */
  readonly work: ScanWork;
  /** Counts of names below private suffixes that requests added today. */
  readonly onDemandDays: OnDemandDays;
  /** The current time: the server's on PostgreSQL, the same for all processes; else this machine's. */
  readonly clock: () => Date;
  /** Held by the one process that does the scheduler's work. */
  readonly schedulerLock: TermLock;
  /** Held while a dump is written, also by a command beside the service. */
  readonly dumpLock: TermLock;
  /** Held by the one process that exports into ClickHouse. */
  readonly exportLock: TermLock;
  /** The tables for the scheduler of this term; writes reject with StoreError `superseded` when a later term has begun. */
  inTerm(term: number): SchedulerTables;
  readonly keys: KeyTable;
  readonly texts: TextTable;
  /** On PostgreSQL large quotas are leased in blocks; disposing of the store returns unspent blocks. */
  readonly quota: Quota;
  /** Requests of each key by day and path. */
  readonly keyUsage: KeyUsage;
  /** Queries over the history of all domains. */
  readonly lists: ListTable;
  /** Observed records of domains, and the domains of a value. */
  readonly records: RecordTable;
  /** Queries that keys have saved. */
  readonly segments: SegmentTable;
  /** Jobs that write files for keys. */
  readonly jobs: JobTable;
  readonly watchlists: WatchlistTable;
  /** E-mail addresses of watchlists. */
  readonly addresses: AddressTable;
  /** Mentions and certificates for the rules of watchlists. */
  readonly watched: WatchedFacts;
  /** Complete tables, for exports. */
  readonly bulk: BulkRows;
  /** The source of the index. */
  readonly feed: IndexFeed;
  /** Subscribed feeds, and what their items name. */
  readonly feeds: FeedTable;
  /** Sync states of advisory sources. */
  readonly sources: SourceTable;
  /** The ledger of all nodes of this database; undefined on SQLite, where the ledger is a file of one process. */
  readonly ledger: LedgerTables | undefined;
  /** The copy of the newest checkpoint of a ledger that is not in this database. */
  ledgerCheckpoint(origin: string): CheckpointCopy;
}

const DUMP = { name: 'dump', number: 0x5354_5244, counter: 'dump-term' } as const;
const EXPORT = { name: 'export', number: 0x5354_5258, counter: 'export-term' } as const;
/** A separate pool, connected on first use, so that appends to the ledger do not wait for scans. */
const LEDGER_POOL_SIZE = 3;
export const SCHEDULER = { name: 'scheduler', number: 0x5354_5253, counter: 'scheduler-term' } as const;
const DEFAULT_RESCAN_AFTER_MS = 24 * 3_600_000;

/**
 * Opens `sqlite:<path>` (`sqlite::memory:` for a temporary store), creating the file, or `postgres://…`, and upgrades the schema.
 * Rejects with StoreError if the file is damaged, is not a database, is not writable, or was written by a newer version.
 */
export async function openStore(url: string, options: StoreOptions = {}): Promise<Store> {
  const { db, pool, file } = await openDatabase<Database>(url, migrations, options);
  let clock = () => new Date();
  let now = options.now ?? clock;
  let keys: KeyTable;
  try {
    if (pool) clock = (await SharedClock.open(db)).now;
    else await refuseCopied(db as never, file ?? '');
    now = options.now ?? clock;
    keys = await KeyTable.open(db, { now, prefix: 'ssk_' });
  } catch (error) {
    await db.destroy();
    throw error;
  }

  const isShared = pool !== undefined;
  const ledgerDb = isShared
    ? new Kysely<Database>({ dialect: pooledDialect(openPool(url, { poolSize: LEDGER_POOL_SIZE, isPipelined: true })) })
    : undefined;
  const rescanAfterMs = options.rescanAfterMs ?? DEFAULT_RESCAN_AFTER_MS;
  const recordScans = createRecorder(db, { rescanAfterMs });
  const texts = new TextTable(db);
  const counted = new QuotaTable(db);
  const keyUsage = new KeyUsage(db, now);
  const blocks = isShared ? new QuotaBlocks(counted) : undefined;
  const schedulerLock = isShared ? sessionLock(db, SCHEDULER, url) : soleLock(db, SCHEDULER);
  const dumpLock = isShared ? sessionLock(db, DUMP, url) : fileLock(db, DUMP, file ?? '');
  const exportLock = isShared ? sessionLock(db, EXPORT, url) : fileLock(db, EXPORT, file ?? '');
  return {
    domains: new DomainTable(db, now),
    events: new EventTable(db),
    recordScans,
    inspection: inspectionOf(db, pool),
    work: new ScanWork(db, { rescanAfterMs }),
    onDemandDays: new OnDemandDays(db),
    clock,
    ...{ schedulerLock, dumpLock, exportLock },
    inTerm(term) {
      const guard = guardOf(SCHEDULER.counter, () => term);
      return {
        signals: new SignalTable(db, guard),
        stream: new StreamTable(db, guard),
        advisories: new AdvisoryTable(db, guard),
        retention: new RetentionTable(db, guard),
        notifications: new NotificationTable(db, guard),
        deliveries: new DeliveryTable(db, guard),
      };
    },
    keys,
    texts,
    quota: blocks ?? counted,
    keyUsage,
    lists: new ListTable(db),
    records: new RecordTable(db),
    bulk: new BulkRows(db),
    feed: new IndexFeed(db),
    signals: new SignalTable(db),
    stream: new StreamTable(db),
    feeds: new FeedTable(db),
    advisories: new AdvisoryTable(db),
    retention: new RetentionTable(db),
    notifications: new NotificationTable(db),
    deliveries: new DeliveryTable(db),
    segments: new SegmentTable(db, now),
    jobs: new JobTable(db, { clock, isShared }),
    watchlists: new WatchlistTable(db, now),
    addresses: new AddressTable(db),
    watched: new WatchedFacts(db, now),
    sources: new SourceTable(db),
    ledger: ledgerDb && ledgerTablesIn(ledgerDb),
    ledgerCheckpoint: (origin) => ledgerCheckpoint(texts, origin),
    async [Symbol.asyncDispose]() {
      await keyUsage[Symbol.asyncDispose]();
      await blocks?.[Symbol.asyncDispose]();
      await schedulerLock[Symbol.asyncDispose]();
      await dumpLock[Symbol.asyncDispose]();
      await exportLock[Symbol.asyncDispose]();
      await ledgerDb?.destroy();
      await db.destroy();
    },
  };
}
