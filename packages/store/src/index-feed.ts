// What the index is built from and follows: every scanned domain with its services, every change, and the log of scans.
import type { Category, ChangeType, ConfidenceLevel, DomainState } from '@strata/detect';
import { type Kysely, sql, type Transaction } from 'kysely';
import type { Database } from './schema.ts';

export interface FeedDomain {
  readonly id: number;
  readonly name: string;
  readonly scannedAt: number;
  readonly state: DomainState;
  readonly sector: string;
  readonly posture: number;
  readonly holders: number;
  readonly score: number | null;
  readonly services: readonly FeedService[];
}
/** Events that are older than versions end with the confidence. */
export type FeedService = readonly [
  category: Category,
  provider: string,
  confidence: ConfidenceLevel,
  version?: string | null,
  platform?: string | null,
];

export interface FeedChange {
  readonly at: number;
  readonly confirmedAt: number;
  readonly category: Category;
  readonly type: ChangeType;
  readonly from: string | null;
  readonly to: string | null;
  readonly isEntry: boolean;
  readonly isExit: boolean;
}

export interface FeedScan {
  readonly id: number;
  readonly domainId: number;
  readonly at: number;
  readonly state: DomainState;
  readonly rulebook: string;
}

/** Places in the two logs: everything up to them was read. */
export interface FeedPosition {
  readonly seq: number;
  readonly scanId: number;
}

export interface FeedDay {
  readonly day: number;
  readonly scans: number;
  /** Of them, those that resolved something. */
  readonly measured: number;
  readonly rulebook: string;
}

export interface FeedReader {
  domains(batch: readonly FeedDomain[]): void;
  changes(batch: readonly FeedChange[]): void;
  /** Scans counted by UTC day (days since the epoch) and rulebook. */
  scanDays(days: readonly FeedDay[]): void;
}

const DOMAINS_AT_ONCE = 2_000;
const CHANGES_AT_ONCE = 10_000;
const DAY_MS = 86_400_000;

export class IndexFeed {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  /** Identity of this database, made with it. */
  async storeId(): Promise<string> {
    const row = await this.#db.selectFrom('settings').where('name', '=', 'store-id').select('value').executeTakeFirst();
    return row?.value ?? '';
  }

  /** The oldest event that is still kept, or undefined when there is none. */
  async oldestSeq(): Promise<number | undefined> {
    const row = await this.#db.selectFrom('events').orderBy('seq').limit(1).select('seq').executeTakeFirst();
    return row?.seq;
  }

  /** Hands out everything, as of one moment; the position is that of this moment. Nothing else is served meanwhile. */
  async readAll(reader: FeedReader): Promise<FeedPosition> {
    return this.#db
      .transaction()
      .setAccessMode('read only')
      .execute(async (tx) => {
        await readDomains(tx, reader);
        await readChanges(tx, reader);
        reader.scanDays(await readScanDays(tx));
        const event = await tx.selectFrom('events').orderBy('seq', 'desc').limit(1).select('seq').executeTakeFirst();
        const scan = await tx.selectFrom('scans').orderBy('id', 'desc').limit(1).select('id').executeTakeFirst();
        return { seq: event?.seq ?? 0, scanId: scan?.id ?? 0 };
      });
  }

  /** Scans after an id, in order of it. */
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

async function readDomains(tx: Transaction<Database>, reader: FeedReader): Promise<void> {
  for (let after = 0; ; ) {
    const rows = await tx
      .selectFrom('domains')
      .where('id', '>', after)
      .orderBy('id')
      .limit(DOMAINS_AT_ONCE)
      .select(['id', 'name', 'last_scanned_at', 'state', 'sector', 'posture_bits', 'holder_bits', 'score'])
      .execute();
    const last = rows.at(-1)?.id;
    if (last === undefined) return;
    const services = await readServices(tx, after, last);
    after = last;
    const batch: FeedDomain[] = [];
    for (const row of rows) {
      if (row.last_scanned_at === null || row.state === null) continue;
      batch.push({
        id: row.id,
        name: row.name,
        scannedAt: row.last_scanned_at,
        state: row.state,
        sector: row.sector,
        posture: row.posture_bits,
        holders: row.holder_bits,
        score: row.score,
        services: services.get(row.id) ?? [],
      });
    }
    reader.domains(batch);
  }
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
  const services = new Map<number, FeedService[]>();
  for (const { domain_id, category, provider, confidence, version, platform } of rows) {
    const service = [category, provider, confidence, version, platform] as const;
    const of = services.get(domain_id);
    if (of) of.push(service);
    else services.set(domain_id, [service]);
  }
  return services;
}

async function readChanges(tx: Transaction<Database>, reader: FeedReader): Promise<void> {
  for (let after = 0; ; ) {
    const rows = await tx
      .selectFrom('changes')
      .where('id', '>', after)
      .orderBy('id')
      .limit(CHANGES_AT_ONCE)
      .select(['id', 'at', 'confirmed_at', 'category', 'type', 'from_provider', 'to_provider', 'is_entry', 'is_exit'])
      .execute();
    const last = rows.at(-1)?.id;
    if (last === undefined) return;
    after = last;
    reader.changes(
      rows.map((row) => ({
        at: row.at,
        confirmedAt: row.confirmed_at,
        category: row.category,
        type: row.type,
        from: row.from_provider,
        to: row.to_provider,
        isEntry: row.is_entry === 1,
        isExit: row.is_exit === 1,
      })),
    );
  }
}

async function readScanDays(tx: Transaction<Database>) {
  const day = sql<number>`cast(observed_at / ${sql.lit(DAY_MS)} as integer)`;
  const rows = await tx
    .selectFrom('scans')
    .select([
      day.as('day'),
      'rulebook',
      sql<number>`count(*)`.as('scans'),
      sql<number>`sum(case when state <> 'unmeasured' then 1 else 0 end)`.as('measured'),
    ])
    .groupBy([day, 'rulebook'])
    .orderBy('day')
    .execute();
  return rows.map((row) => ({
    day: Number(row.day),
    scans: Number(row.scans),
    measured: Number(row.measured),
    rulebook: row.rulebook,
  }));
}
