// Reads observed records: of a domain with their history, and the domains of a value. Every read is bounded, by index.
import { jsonRows, listed } from '@strata/db';
import { type RecordKind, UNMEASURED } from '@strata/detect';
import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema.ts';

/** An interval in which a domain published a value. */
export interface StoredRecord {
  readonly kind: RecordKind;
  readonly value: string;
  readonly firstSeen: Date;
  /** The last scan that observed it. */
  readonly lastSeen: Date;
  /** The first successful look-up without it; null while it is present. */
  readonly endedAt: Date | null;
}

export interface DomainRecords {
  /** All kept intervals, by kind, value and time. */
  readonly records: readonly StoredRecord[];
  /** The first observation of any kind. */
  readonly observedSince: Date | null;
  /** Kinds that were not measured at first, and when they were: what they had before is unknown. Null: not measured yet. */
  readonly unmeasuredUntil: ReadonlyMap<RecordKind, Date | null>;
}

export type RecordKey = Pick<StoredRecord, 'kind' | 'value'>;
export interface RecordUser extends Omit<StoredRecord, 'kind' | 'value'> {
  readonly domain: string;
  /** Continues a page after this one. */
  readonly key: PivotKey;
}

/** `ended_at`, 0 for present values, and the number of the domain. */
export type PivotKey = [endedAt: number, domainId: number];

/** Intervals of a value; counting stops here. */
export const MAX_COUNTED = 10_000;
/** Intervals of one domain: more than recording keeps. */
const MAX_INTERVALS = 2_000;
const KEY = { kind: 'text', value: 'text' } as const;

export class RecordTable {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  async of(domain: string): Promise<DomainRecords> {
    const rows = await this.#db
      .selectFrom('records')
      .innerJoin('domains', 'domains.id', 'records.domain_id')
      .select(['kind', 'value', 'first_seen', 'last_seen', 'ended_at', 'last_scanned_at'])
      .where('domains.name', '=', domain)
      .orderBy('kind')
      .orderBy('value')
      .orderBy('first_seen')
      .limit(MAX_INTERVALS)
      .execute();
    const all = rows.map((row) => ({ kind: row.kind, value: row.value, ...timesOf(row) }));
    const gaps = all.filter(({ value }) => value === UNMEASURED);
    const since = all.reduce((first, { firstSeen }) => Math.min(first, firstSeen.getTime()), Infinity);
    return {
      records: all.filter(({ value }) => value !== UNMEASURED),
      observedSince: all.length === 0 ? null : new Date(since),
      unmeasuredUntil: new Map(gaps.map(({ kind, endedAt }) => [kind, endedAt])),
    };
  }

  /** All kept intervals of some dozens of domains, by domain, kind, value and time. */
  async ofEach(
    domainIds: readonly number[],
    kind?: RecordKind,
  ): Promise<(StoredRecord & { readonly domainId: number })[]> {
    if (domainIds.length === 0) return [];
    const rows = await this.#db
      .selectFrom('records')
      .innerJoin('domains', 'domains.id', 'records.domain_id')
      .select(['domain_id', 'kind', 'value', 'first_seen', 'last_seen', 'ended_at', 'last_scanned_at'])
      .where('domain_id', 'in', domainIds)
      .where('value', '!=', UNMEASURED)
      .$if(kind !== undefined, (of) => of.where('kind', '=', kind as RecordKind))
      .orderBy('domain_id')
      .orderBy('kind')
      .orderBy('value')
      .orderBy('first_seen')
      .execute();
    return rows.map((row) => ({ domainId: row.domain_id, kind: row.kind, value: row.value, ...timesOf(row) }));
  }

  /** How many domains publish each value now, in order; counted up to `max`. */
  async countEach(keys: readonly RecordKey[], max: number): Promise<number[]> {
    const { rows } = await sql<{ position: number; n: number }>`
      select position, (select count(*) from (
        select 1 from records where records.kind = wanted.kind and records.value = wanted.value and ended_at is null
        limit ${sql.lit(max)}) as users) as n
      from ${this.#listed(keys)} as wanted`.execute(this.#db);
    const counts = keys.map(() => 0);
    for (const { position, n } of rows) counts[position] = Number(n);
    return counts;
  }

  /** The domains that publish one of the values now. The caller knows from `countEach` that these are few. */
  async usersOf(keys: readonly RecordKey[], limit: number): Promise<(RecordKey & { readonly domain: string })[]> {
    const { rows } = await sql<RecordKey & { domain: string }>`
      select wanted.kind, wanted.value, domains.name as domain from ${this.#listed(keys)} as wanted
        join records on records.kind = wanted.kind and records.value = wanted.value and records.ended_at is null
        join domains on domains.id = records.domain_id
      limit ${sql.lit(limit)}`.execute(this.#db);
    return rows.map((row) => ({ ...row }));
  }

  /**
   * The domains that publish a value now, up to `MAX_COUNTED` and one more if there are more, and those that do or did: null if the value
   * has more than `MAX_COUNTED` intervals, of which a domain can have several.
   */
  async count({ kind, value }: RecordKey): Promise<{ readonly now: number; readonly ever: number | null }> {
    const of = sql`records where kind = ${kind} and value = ${value}`;
    const max = sql.lit(MAX_COUNTED + 1);
    const { rows } = await sql<{ now: number; intervals: number; ever: number }>`select
      (select count(*) from (select 1 from ${of} and ended_at is null limit ${max}) as users) as now,
      count(*) as intervals, count(distinct domain_id) as ever
      from (select domain_id from ${of} limit ${max}) as intervals`.execute(this.#db);
    const [{ now, intervals, ever } = { now: 0, intervals: 0, ever: 0 }] = rows;
    return { now: Number(now), ever: Number(intervals) > MAX_COUNTED ? null : Number(ever) };
  }

  /** Domains with the value: present ones in the order in which they were added; past intervals, the last ended first. */
  async users(
    { kind, value }: RecordKey,
    { isPresent, limit, after }: { readonly isPresent: boolean; readonly limit: number; readonly after?: PivotKey },
  ): Promise<RecordUser[]> {
    const [endedAt, domainId] = (after ?? []).map(Number);
    const ofValue = this.#db.selectFrom('records').where('kind', '=', kind).where('value', '=', value).limit(limit);
    // By `ended_at` in both cases: only the index by value has this order.
    const present = ofValue.where('ended_at', 'is', null).orderBy('ended_at').orderBy('domain_id');
    const past = ofValue.where('ended_at', 'is not', null).orderBy('ended_at', 'desc').orderBy('domain_id', 'desc');
    const page = isPresent
      ? present.$if(after !== undefined, (rows) => rows.where('domain_id', '>', Number(domainId)))
      : past.$if(after !== undefined, (rows) =>
          rows.where(sql<boolean>`(ended_at, domain_id) < (${endedAt}, ${domainId})`),
        );
    const rows = await page.select(['domain_id', 'first_seen', 'last_seen', 'ended_at']).execute();
    const numbers = listed(
      this.#db,
      rows.map((row) => row.domain_id),
    );
    const found = this.#db.selectFrom('domains').where('id', 'in', numbers).select(['id', 'name', 'last_scanned_at']);
    const domains = new Map((await found.execute()).map((domain) => [domain.id, domain]));
    return rows.flatMap((row) => {
      const domain = domains.get(row.domain_id);
      if (!domain) return [];
      const { name, last_scanned_at } = domain;
      return { domain: name, ...timesOf({ ...row, last_scanned_at }), key: [row.ended_at ?? 0, row.domain_id] };
    });
  }

  #listed(keys: readonly RecordKey[]) {
    const rows = keys.map(({ kind, value }, position) => [position, kind, value]);
    return jsonRows(this.#db, rows, { position: 'integer', ...KEY });
  }
}

interface Times {
  readonly first_seen: number;
  readonly last_seen: number | null;
  readonly ended_at: number | null;
  readonly last_scanned_at: number | null;
}

function timesOf({ first_seen, last_seen, ended_at, last_scanned_at }: Times) {
  return {
    firstSeen: new Date(first_seen),
    lastSeen: new Date(last_seen ?? last_scanned_at ?? first_seen),
    endedAt: ended_at === null ? null : new Date(ended_at),
  };
}
