// Published vulnerabilities: the records of each source, the merged advisory, and the order of changes.
import type { Advisory, AdvisoryRecord, Assessed, ExploitScore, KnownExploited } from '@strata/advisories';
import { batches, executePipelined, type Guard, unguarded, writeTransaction } from '@strata/db';
import { type Kysely, sql, type Transaction } from 'kysely';
import type { AdvisoryTouched, DomainExposed } from '../events/stored-event.ts';
import type { Database } from '../schema.ts';
import { putExploited, putRecords, putScores } from './advisory-writes.ts';

export interface AdvisoryChange {
  readonly seq: number;
  readonly advisoryId: string;
}

export interface AdvisoryCounts {
  readonly advisories: number;
  readonly knownExploited: number;
  readonly scores: number;
  readonly bySource: Readonly<Record<string, number>>;
}

/** `domain` is empty for an event without a domain. */
export type AdvisoryEvent = { readonly at: Date; readonly domain: string } & (
  | { readonly kind: 'advisory-touched'; readonly payload: AdvisoryTouched }
  | { readonly kind: 'domain-exposed'; readonly payload: DomainExposed }
);

/** Records in one transaction, which blocks other writers for some milliseconds. */
const RECORD_BATCH = 100;
const SCORE_BATCH = 1_000;
/** Prefix of the counters of records, followed by the source. */
const RECORD_ROWS = 'record-rows ';
/** Ids in one query. */
const ID_BATCH = 500;

export class AdvisoryTable {
  readonly #db: Kysely<Database>;
  readonly #guard: Guard;

  constructor(db: Kysely<Database>, guard: Guard = unguarded) {
    this.#db = db;
    this.#guard = guard;
  }

  /** Stores records of sources, in batches. Idempotent: an unchanged record changes nothing. */
  async putRecords(records: readonly AdvisoryRecord[]): Promise<void> {
    for (const batch of batches(lastOfEach(records), RECORD_BATCH)) {
      await this.#write((tx) => putRecords(tx, batch));
      await yieldToEventLoop();
    }
  }

  /** Stores the KEV catalog: entries that are neither in `all` nor in `named` are deleted, unless `all` is only a part. */
  async putExploited(
    all: readonly KnownExploited[],
    { named = [], isPart = false }: { readonly named?: readonly string[]; readonly isPart?: boolean } = {},
  ): Promise<void> {
    const listed = new Set(named);
    await this.#write((tx) => putExploited(tx, all, (cve) => isPart || listed.has(cve)));
  }

  async putScores(scores: readonly ExploitScore[]): Promise<void> {
    for (const batch of batches(scores, SCORE_BATCH)) {
      await this.#write((tx) => putScores(tx, batch));
      await yieldToEventLoop();
    }
  }

  /** Changes after a position, in order; an advisory has only the position of its last change. */
  async changesSince(seq: number, limit: number): Promise<AdvisoryChange[]> {
    const rows = await this.#db
      .selectFrom('advisory_changes')
      .where('seq', '>', seq)
      .orderBy('seq')
      .limit(limit)
      .selectAll()
      .execute();
    return rows.map((row) => ({ seq: row.seq, advisoryId: row.advisory_id }));
  }

  async latestChange(): Promise<number> {
    const row = await this.#db
      .selectFrom('advisory_changes')
      .orderBy('seq', 'desc')
      .limit(1)
      .select('seq')
      .executeTakeFirst();
    return row?.seq ?? 0;
  }

  /** Ids of the advisories of any of these products, in order. */
  async naming(productKeys: readonly string[]): Promise<string[]> {
    const ids = new Set<string>();
    for (const batch of batches(productKeys, ID_BATCH)) {
      const rows = await this.#db
        .selectFrom('advisory_products')
        .where('product_key', 'in', batch)
        .select('advisory_id')
        .execute();
      for (const { advisory_id } of rows) ids.add(advisory_id);
    }
    return [...ids].sort();
  }

  /** The advisories with these ids, as far as stored. */
  async read(ids: readonly string[]): Promise<Assessed[]> {
    const found: Assessed[] = [];
    for (const batch of batches(ids, ID_BATCH)) {
      const rows = await this.#db
        .selectFrom('advisories')
        .leftJoin('known_exploited', 'known_exploited.cve', 'advisories.id')
        .leftJoin('exploit_scores', 'exploit_scores.cve', 'advisories.id')
        .where('advisories.id', 'in', batch)
        .select(['advisories.body', 'known_exploited.body as exploited', 'epss', 'percentile'])
        .execute();
      for (const { body, exploited, epss, percentile } of rows) {
        found.push({
          advisory: JSON.parse(body) as Advisory,
          exploited: exploited === null ? null : (JSON.parse(exploited) as KnownExploited),
          score: epss === null || percentile === null ? null : { epss, percentile },
        });
      }
    }
    return found;
  }

  /**
   * Writes an event, unless one was ever written for the same subject, so that nothing is announced again after a kill. Returns
   * whether it was written.
   */
  async addEvent(subject: string, event: AdvisoryEvent): Promise<boolean> {
    const at = event.at.getTime();
    return this.#write(async (tx) => {
      const result = await tx
        .insertInto('advisory_tellings')
        .values({ subject, at })
        .onConflict((conflict) => conflict.column('subject').doNothing())
        .executeTakeFirst();
      if (Number(result.numInsertedOrUpdatedRows ?? 0) === 0) return false;
      const { kind, domain } = event;
      const payload = JSON.stringify(event.payload);
      await executePipelined(tx, [tx.insertInto('events').values({ at, kind, domain, payload }).compile()], {
        isLast: true,
      });
      return true;
    });
  }

  #write<T>(work: (tx: Transaction<Database>) => Promise<T>): Promise<T> {
    return writeTransaction(this.#db, async (tx) => {
      await this.#guard(tx);
      return work(tx);
    });
  }

  /** Read from counters, which are written with the rows; only the short KEV catalog is counted. */
  async counts(): Promise<AdvisoryCounts> {
    const rows = await this.#db.selectFrom('counters').selectAll().execute();
    const counters = new Map(rows.map(({ name, value }) => [name, value]));
    const { n } = await this.#db
      .selectFrom('known_exploited')
      .select(sql<number>`count(*)`.as('n'))
      .executeTakeFirstOrThrow();
    const bySource = rows.filter(({ name }) => name.startsWith(RECORD_ROWS));
    return {
      advisories: counters.get('advisory-rows') ?? 0,
      knownExploited: Number(n),
      scores: counters.get('score-rows') ?? 0,
      bySource: Object.fromEntries(bySource.map(({ name, value }) => [name.slice(RECORD_ROWS.length), value])),
    };
  }
}

const keyOf = ({ source, id }: AdvisoryRecord): string => `${source} ${id}`;

/** A page may contain a record twice: the last one is used. */
function lastOfEach(records: readonly AdvisoryRecord[]): AdvisoryRecord[] {
  return [...new Map(records.map((record) => [keyOf(record), record])).values()];
}

const yieldToEventLoop = () => new Promise<void>((resolve) => setImmediate(resolve));
