// The store as the services see it, and how it is opened.
import type { Category } from '@strata/detect';
import { type Dialect, Kysely, sql } from 'kysely';
import { AdvisoryTable } from './advisories.ts';
import { SourceTable } from './advisory-sources.ts';
import { AnswerTable } from './answers.ts';
import { type AddedDomains, DomainTable, type StoredChange, type StoredProfile } from './domains.ts';
import { EventTable, type StoredEvent } from './events.ts';
import { FeedTable } from './feeds.ts';
import { IndexFeed } from './index-feed.ts';
import { type KeyPrefix, KeyTable } from './keys.ts';
import { ListTable } from './lists.ts';
import { migrate } from './migrations/index.ts';
import { openPool, type PostgresOptions, postgresDialect } from './postgres-dialect.ts';
import { QuotaTable } from './quota.ts';
import {
  createRecorder,
  type RecordedScan,
  type RecordOptions,
  type RecordScans,
  type ScanRecord,
} from './record-scan.ts';
import { ScanWork } from './scan-work.ts';
import type { Database } from './schema.ts';
import { type Segments, SegmentTable } from './segments.ts';
import { SignalTable } from './signals.ts';
import { openDatabase, sqliteDialect } from './sqlite-dialect.ts';
import { type Standings, StandingTable } from './standings.ts';
import { StreamTable } from './stream.ts';

export interface StoreOptions extends PostgresOptions {
  readonly now?: () => Date;
  /** The usual time between two scans of a domain; schedule.ts says what is less usual. */
  readonly rescanAfterMs?: number;
  /** What the keys of this store begin with; `ssk_` by default. */
  readonly keyPrefix?: KeyPrefix;
}

/** How many there are of each thing. */
export interface StoreCounts {
  readonly domains: number;
  readonly scannedDomains: number;
  readonly services: number;
  readonly scans: number;
  readonly changes: number;
}

/**
 * Everything that is remembered. Methods reject with StoreError when the database fails. What a resolved write says is
 * committed: a process killed afterwards has lost nothing of it.
 */
export interface Store extends AsyncDisposable {
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
  counts(): Promise<StoreCounts>;
  /** Which process scans which domain. */
  readonly work: ScanWork;
  readonly keys: KeyTable;
  readonly quota: QuotaTable;
  /** Lists over all domains. */
  readonly lists: ListTable;
  /** What the index is built from and follows. */
  readonly feed: IndexFeed;
  /** Anomalies and alerts. */
  readonly signals: SignalTable;
  /** The public stream. */
  readonly stream: StreamTable;
  /** Subscribed feeds, and what their items name. */
  readonly feeds: FeedTable;
  /** What the inference service remembers. */
  readonly answers: AnswerTable;
  /** What workers made for gateways, by receipts that both signed. */
  readonly segments: Segments;
  /** How far workers are trusted. */
  readonly standings: Standings;
  /** Published vulnerabilities, and how far their sources have come. */
  readonly advisories: AdvisoryTable;
  readonly sources: SourceTable;
}

const DEFAULT_RESCAN_AFTER_MS = 24 * 3_600_000;

/**
 * Opens `sqlite:<path>` (`sqlite::memory:` for a passing one), creating the file, or `postgres://…`, and brings the schema up to date.
 * Rejects with StoreError when the file is damaged, not a database, not writable or from a newer version.
 */
export async function openStore(url: string, options: StoreOptions = {}): Promise<Store> {
  const db = new Kysely<Database>({ dialect: dialectOf(url, options) });
  const now = options.now ?? (() => new Date());
  let keys: KeyTable;
  try {
    await migrate(db);
    keys = await KeyTable.open(db, { now, prefix: options.keyPrefix ?? 'ssk_' });
  } catch (error) {
    await db.destroy();
    throw error;
  }

  const rescanAfterMs = options.rescanAfterMs ?? DEFAULT_RESCAN_AFTER_MS;
  const recordScans = createRecorder(db, { rescanAfterMs });
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
    keys,
    quota: new QuotaTable(db),
    lists: new ListTable(db),
    feed: new IndexFeed(db),
    signals: new SignalTable(db),
    stream: new StreamTable(db),
    feeds: new FeedTable(db),
    answers: new AnswerTable(db),
    segments: new SegmentTable(db),
    standings: new StandingTable(db),
    advisories: new AdvisoryTable(db),
    sources: new SourceTable(db),
    async [Symbol.asyncDispose]() {
      await db.destroy();
    },
  };
}

function dialectOf(url: string, options: StoreOptions): Dialect {
  const file = /^sqlite:(.+)$/.exec(url)?.[1];
  if (file !== undefined) return sqliteDialect(openDatabase(file));
  if (/^postgres(?:ql)?:\/\//.test(url)) return postgresDialect(openPool(url, options));
  throw new Error('the database URL must begin with sqlite: and name a file, or with postgres:// and name a server');
}

async function countAll(db: Kysely<Database>): Promise<StoreCounts> {
  const count = async (table: 'domains' | 'services' | 'scans' | 'changes') => {
    const row = await db.selectFrom(table).select(sql<number>`count(*)`.as('n')).executeTakeFirstOrThrow();
    return Number(row.n);
  };
  const scanned = await db
    .selectFrom('domains')
    .where('last_scanned_at', 'is not', null)
    .select(sql<number>`count(*)`.as('n'))
    .executeTakeFirstOrThrow();
  const open = await db
    .selectFrom('services')
    .where('valid_to', 'is', null)
    .where('status', '!=', 'pending')
    .select(sql<number>`count(*)`.as('n'))
    .executeTakeFirstOrThrow();
  return {
    domains: await count('domains'),
    scannedDomains: Number(scanned.n),
    services: Number(open.n),
    scans: await count('scans'),
    changes: await count('changes'),
  };
}
