// Published vulnerabilities: what each publisher says, everything that is known of one, and what changed, in order.
import type { Advisory, AdvisoryRecord, ExploitScore, KnownExploited } from '@strata/advisories';
import { type Kysely, sql, type Transaction } from 'kysely';
import { batches } from '../../db/statements/batches.ts';
import { together } from '../../db/statements/together.ts';
import { type Guard, unguarded } from '../../db/transactions/term.ts';
import { writeTransaction } from '../../db/transactions/write-transaction.ts';
import type { Database } from '../../schema.ts';
import type { AdvisoryTouched, DomainExposed } from '../events/events.ts';
import { putExploited, putRecords, putScores } from './advisory-writes.ts';

/** An advisory with what is known of its exploitation. */
export interface StoredAdvisory {
  readonly advisory: Advisory;
  readonly exploited: KnownExploited | null;
  readonly score: Omit<ExploitScore, 'cve'> | null;
}

export interface AdvisoryChange {
  readonly seq: number;
  readonly advisoryId: string;
}

export interface AdvisoryCounts {
  readonly advisories: number;
  readonly knownExploited: number;
  readonly scores: number;
  /** By whose ranges they are. */
  readonly bySource: Readonly<Record<string, number>>;
}

/** `domain` is empty where the event is of none. */
export type AdvisoryEvent = { readonly at: Date; readonly domain: string } & (
  | { readonly kind: 'advisory-touched'; readonly payload: AdvisoryTouched }
  | { readonly kind: 'domain-exposed'; readonly payload: DomainExposed }
);

/** Records of one transaction: the connection is nobody else's for some milliseconds. */
const RECORDS_AT_ONCE = 100;
const SCORES_AT_ONCE = 1_000;
/** Counters of records begin so; their source follows. */
const RECORD_ROWS = 'record-rows ';
/** Ids read with one query. */
const IDS_AT_ONCE = 500;

export class AdvisoryTable {
  readonly #db: Kysely<Database>;
  readonly #guard: Guard;

  constructor(db: Kysely<Database>, guard: Guard = unguarded) {
    this.#db = db;
    this.#guard = guard;
  }

  /** Takes in what publishers say. Idempotent: what stands already changes nothing. In batches, with room between for others. */
  async putRecords(records: readonly AdvisoryRecord[]): Promise<void> {
    for (const batch of batches(lastOfEach(records), RECORDS_AT_ONCE)) {
      await this.#write((tx) => putRecords(tx, batch));
      await nextTurn();
    }
  }

  /** The whole catalogue of what is exploited: what is not in it any more, nor among `named`, is taken back; of a part of it nothing is. */
  async putExploited(
    all: readonly KnownExploited[],
    { named = [], isPart = false }: { readonly named?: readonly string[]; readonly isPart?: boolean } = {},
  ): Promise<void> {
    const there = new Set(named);
    await this.#write((tx) => putExploited(tx, all, (cve) => isPart || there.has(cve)));
  }

  async putScores(scores: readonly ExploitScore[]): Promise<void> {
    for (const batch of batches(scores, SCORES_AT_ONCE)) {
      await this.#write((tx) => putScores(tx, batch));
      await nextTurn();
    }
  }

  /** What changed after a place in the order; an advisory that changed again stands at its newest place only. */
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

  /** Whether no publisher has said anything yet. */
  async isEmpty(): Promise<boolean> {
    const row = await this.#db.selectFrom('advisory_records').select('record_id').limit(1).executeTakeFirst();
    return row === undefined;
  }

  /** Ids of the advisories that name any of these products, in order. */
  async naming(productKeys: readonly string[]): Promise<string[]> {
    const ids = new Set<string>();
    for (const batch of batches(productKeys, IDS_AT_ONCE)) {
      const rows = await this.#db
        .selectFrom('advisory_products')
        .where('product_key', 'in', batch)
        .select('advisory_id')
        .execute();
      for (const { advisory_id } of rows) ids.add(advisory_id);
    }
    return [...ids].sort();
  }

  /** Of these ids, those that are known. */
  async read(ids: readonly string[]): Promise<StoredAdvisory[]> {
    const found: StoredAdvisory[] = [];
    for (const batch of batches(ids, IDS_AT_ONCE)) {
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
   * Writes an event, unless one was written for the same subject ever before: after a kill what was told already is not
   * told again. Returns whether it was written.
   */
  async tell(subject: string, event: AdvisoryEvent): Promise<boolean> {
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
      await together(tx, [tx.insertInto('events').values({ at, kind, domain, payload }).compile()], { isLast: true });
      return true;
    });
  }

  #write<T>(work: (tx: Transaction<Database>) => Promise<T>): Promise<T> {
    return writeTransaction(this.#db, async (tx) => {
      await this.#guard(tx);
      return work(tx);
    });
  }

  /** Of counters, which are written with what they count; CISA's list is short. */
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

/** A page may hold a record twice: the last one counts. */
function lastOfEach(records: readonly AdvisoryRecord[]): AdvisoryRecord[] {
  return [...new Map(records.map((record) => [keyOf(record), record])).values()];
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));
