// The source of the index: every scanned domain with its services, changes and scans by day, and the log of scans. A full read
// grows with domains and days, not with the number of scans and changes.
import type {
  CountedScans,
  DayOfChanges,
  IndexedDomain,
  IndexedMigration,
  IndexedService,
  IndexPosition,
} from '@strata/analytics';
import { readSetting } from '@strata/db';
import type { DomainState } from '@strata/detect';
import { type Kysely, sql, type Transaction } from 'kysely';
import { EVENTS_PRUNED_THROUGH, scansPrunedThrough } from '../history/retention.ts';
import type { Database } from '../schema.ts';

export interface FeedScan {
  readonly id: number;
  readonly domainId: number;
  readonly at: number;
  readonly state: DomainState;
  readonly rulebook: string;
}

/** Scans of a UTC day (days since the epoch) under one rulebook. */
export interface FeedDay extends CountedScans {
  readonly day: number;
}

/** Batches are awaited. */
export interface FeedReader {
  /** Without it, domains are not read. */
  domains?(batch: readonly IndexedDomain[]): void;
  changeDays(batch: readonly DayOfChanges[]): void | Promise<void>;
  /** Migrations of the requested last days, in order of confirmation. */
  migrations(batch: readonly IndexedMigration[]): void | Promise<void>;
  scanDays(days: readonly FeedDay[]): void | Promise<void>;
}

/** A page of the scanned domains. */
export interface FeedDomains {
  readonly domains: readonly IndexedDomain[];
  /** The last id of the page; undefined after the last page. */
  readonly last: number | undefined;
}

const DOMAIN_PAGE = 2_000;
const ROW_PAGE = 10_000;
const DAY_MS = 86_400_000;

export class IndexFeed {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  /** Random identity of this database, created with it. */
  async storeId(): Promise<string> {
    return (await readSetting(this.#db, 'store-id')) ?? '';
  }

  /** Whether a consumer at this position can continue: all later events and scans are kept, and the position is not after the end. */
  async reaches({ seq, scanId }: IndexPosition): Promise<boolean> {
    const { rows } = await sql<{ oldest: number | null; latest: number | null }>`
      select (select min(seq) from events where seq > ${EVENTS_PRUNED_THROUGH}) as oldest, (select max(seq) from events) as latest`.execute(
      this.#db,
    );
    const { oldest = null, latest = null } = rows[0] ?? {};
    if (seq > (latest ?? 0) || (oldest ?? 1) > seq + 1) return false;
    return scanId >= (await scansPrunedThrough(this.#db));
  }

  /**
   * Reads everything in one snapshot and returns its position. Migrations are those confirmed at most `migrationDays` before
   * the last one.
   */
  async readAll(reader: FeedReader, options: { readonly migrationDays: number }): Promise<IndexPosition> {
    return this.#db
      .transaction()
      .setAccessMode('read only')
      .execute(async (tx) => {
        if (reader.domains) await readDomains(tx, reader.domains);
        await readChangeDays(tx, reader);
        await readMigrations(tx, reader, options.migrationDays * DAY_MS);
        await reader.scanDays(
          await tx.selectFrom('scan_days').orderBy('day').orderBy('rulebook').selectAll().execute(),
        );
        const seq = await latestSeq(tx);
        const scan = await tx.selectFrom('scans').orderBy('id', 'desc').limit(1).select('id').executeTakeFirst();
        return { seq, scanId: scan?.id ?? 0 };
      });
  }

  /** The changes and scans of each day since one. */
  async daysSince(day: number, reader: Pick<FeedReader, 'changeDays' | 'scanDays'>): Promise<void> {
    await readChangeDays(this.#db, reader, day);
    await reader.scanDays(await this.#db.selectFrom('scan_days').where('day', '>=', day).selectAll().execute());
  }

  /** The scanned domains among the first `limit` after an id, and the last event of the log when they were read. */
  async domainsAfter(id: number, limit: number): Promise<FeedDomains & { readonly seq: number }> {
    return this.#db
      .transaction()
      .setAccessMode('read only')
      .execute(async (tx) => ({ ...(await domainPage(tx, id, limit)), seq: await latestSeq(tx) }));
  }

  /** Scans after an id, in id order. */
  async scansSince(id: number, limit: number): Promise<FeedScan[]> {
    return this.#db
      .selectFrom('scans')
      .where('id', '>', id)
      .orderBy('id')
      .limit(limit)
      .select(['id', 'domain_id as domainId', 'observed_at as at', 'state', 'rulebook'])
      .execute();
  }
}

async function latestSeq(tx: Transaction<Database>): Promise<number> {
  const event = await tx.selectFrom('events').orderBy('seq', 'desc').limit(1).select('seq').executeTakeFirst();
  return event?.seq ?? 0;
}

async function readDomains(tx: Transaction<Database>, read: (batch: readonly IndexedDomain[]) => void): Promise<void> {
  for (let after: number | undefined = 0; after !== undefined; ) {
    const { domains, last }: FeedDomains = await domainPage(tx, after, DOMAIN_PAGE);
    if (last !== undefined) read(domains);
    after = last;
  }
}

async function domainPage(tx: Transaction<Database>, after: number, limit: number): Promise<FeedDomains> {
  const rows = await tx
    .selectFrom('domains')
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .select(['id', 'name', 'last_scanned_at', 'first_scanned_at', 'changed_at', 'state', 'sector'])
    .select(['posture_bits', 'holder_bits', 'score', 'country'])
    .execute();
  const last = rows.at(-1)?.id;
  if (last === undefined) return { domains: [], last };
  const services = await readServices(tx, after, last);
  const domains: IndexedDomain[] = [];
  for (const row of rows) {
    if (row.last_scanned_at === null || row.state === null) continue;
    domains.push({
      id: row.id,
      name: row.name,
      scannedAt: row.last_scanned_at,
      firstSeen: row.first_scanned_at ?? row.last_scanned_at,
      changedAt: row.changed_at ?? 0,
      state: row.state,
      sector: row.sector,
      posture: row.posture_bits,
      holders: row.holder_bits,
      score: row.score,
      country: row.country,
      services: services.get(row.id) ?? [],
    });
  }
  return { domains, last };
}

async function readServices(tx: Transaction<Database>, after: number, last: number) {
  const rows = await tx
    .selectFrom('services')
    .where('domain_id', '>', after)
    .where('domain_id', '<=', last)
    .where('valid_to', 'is', null)
    .where('status', '!=', 'pending')
    .select(['domain_id', 'category', 'provider', 'confidence', 'version', 'platform'])
    .execute();
  const services = new Map<number, IndexedService[]>();
  for (const { domain_id, category, provider, confidence, version, platform } of rows) {
    const service = [category, provider, confidence, version, platform] as const;
    const of = services.get(domain_id);
    if (of) of.push(service);
    else services.set(domain_id, [service]);
  }
  return services;
}

async function readChangeDays(tx: Kysely<Database>, reader: Pick<FeedReader, 'changeDays'>, since = 0): Promise<void> {
  const all = () => tx.selectFrom('change_days').where('day', '>=', since);
  const start = () => all().orderBy('day').orderBy('category').orderBy('provider');
  for (let last: DayOfChanges | undefined; ; ) {
    const key = last && sql`(${last.day}, ${last.category}, ${last.provider})`;
    const next = key ? start().where(sql<boolean>`(day, category, provider) > ${key}`) : start();
    const rows = await next.limit(ROW_PAGE).selectAll().execute();
    await reader.changeDays(rows);
    if (rows.length < ROW_PAGE) return;
    last = rows.at(-1);
  }
}

async function readMigrations(tx: Transaction<Database>, reader: FeedReader, sinceMs: number): Promise<void> {
  const migrated = () => tx.selectFrom('changes').where('type', '=', 'migrated');
  const newest = await migrated().orderBy('confirmed_at', 'desc').limit(1).select('confirmed_at').executeTakeFirst();
  if (!newest) return;
  // The greatest id excludes all rows of the start time.
  let last = { confirmedAt: newest.confirmed_at - sinceMs, id: Number.MAX_SAFE_INTEGER };
  for (;;) {
    const rows = await migrated()
      .where(sql<boolean>`(confirmed_at, id) > (${last.confirmedAt}, ${last.id})`)
      .where('from_provider', 'is not', null)
      .where('to_provider', 'is not', null)
      .orderBy('confirmed_at')
      .orderBy('id')
      .limit(ROW_PAGE)
      .select([
        'id',
        'domain_id as domainId',
        'confirmed_at as confirmedAt',
        'category',
        'from_provider as from',
        'to_provider as to',
      ])
      .$narrowType<{ from: string; to: string }>()
      .execute();
    await reader.migrations(rows);
    if (rows.length < ROW_PAGE) return;
    last = rows.at(-1) ?? last;
  }
}
