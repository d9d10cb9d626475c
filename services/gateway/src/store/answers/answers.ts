// Receipts of the answers of the inference service, and token usage by key, model and UTC day.
import {
  integer,
  isDuplicate,
  isPostgres,
  jsonRows,
  jsonText,
  listedIn,
  type Plan,
  plan,
  rowsIn,
  StoreError,
  toJson,
  valuesOf,
  writePipelined,
} from '@strata/db';
import { type CompiledQuery, type Kysely, type QueryResult, sql } from 'kysely';
import { adding } from '../access/account-usage.ts';
import { type AnswerUsage, reservedFor, summed, type TokensUsed } from '../access/usage-sums.ts';
import { EARLIER_VERSIONS } from '../gateways.ts';
import type { GatewayDatabase } from '../tables.ts';
import { isOwner, type Owned, settles } from './ownership.ts';
import { isStored } from './stored-answers.ts';
import { StoredWriter, type StoredWrites } from './stored-writes.ts';

export type { AnswerUsage, TokensUsed };

export interface NewReceipt {
  /** Ids sort by time. */
  readonly id: string;
  readonly keyId: string;
  /** The signed receipt, JSON. */
  readonly body: string;
}

export interface KeptReceipt extends NewReceipt {
  /** Position in the order of storage. */
  readonly seq: number;
}

export interface UsageRow extends AnswerUsage {
  readonly requests: number;
  /** Millionths of the operator's currency. */
  readonly spendMicros: number;
}

const RECEIPT = { id: 'text', key_id: 'text', body: 'text' } as const;
const USAGE = {
  key_id: 'text',
  day: 'text',
  model: 'text',
  requests: 'integer',
  prompt_tokens: 'integer',
  cached_tokens: 'integer',
  completion_tokens: 'integer',
  spend: 'integer',
} as const;
const RESERVED = { key_id: 'text', day: 'text', used: 'integer' } as const;
/** Model names are read from this many receipts, in well under a second. */
const NAMED_BY = 100_000;

/** What a batch is written with. */
type Batch = Owned & { readonly json: string };

interface KeepOptions {
  readonly begun?: readonly NewReceipt[];
  readonly ended?: readonly string[];
  /** Of these answers, those that clients asked to store. */
  readonly stored?: StoredWrites;
  /** Whose records they are: this gateway's, or those of one that it settles. */
  readonly gateway?: number;
}

/**
 * A receipt is stored at once and entered later in a batch: entering means that it is in the ledger and its usage is counted.
 * `unentered` finds receipts that a kill left between the two. Each gateway enters its own receipts, and those of an ended
 * gateway that it settles. Writes of a gateway whose records another one settles reject with StoreError `superseded`.
 */
export class AnswerTable {
  readonly #db: Kysely<GatewayDatabase>;
  readonly #gateway: () => number;
  /** Compiled once, since they run for every answer. */
  readonly #insert: Plan<Batch, { readonly seq: number }>;
  readonly #begin: Plan<Batch, never>;
  readonly #end: Plan<Batch, never>;
  readonly #stored: StoredWriter;

  /** `gateway`: the id of this one, read at each call. */
  constructor(db: Kysely<GatewayDatabase>, gateway = () => EARLIER_VERSIONS) {
    this.#db = db;
    this.#gateway = gateway;
    this.#stored = new StoredWriter(db);
    // Another gateway may have taken over one of the answers that end: then nothing is written.
    const records = (batch: Batch) => sql`select id, key_id, body, ${integer(batch.gateway)}
      from ${rowsIn(db, batch.json, RECEIPT)} as new where ${isOwner(db, batch)}`;
    // SQLite reports the last number, which takes less time than all rows.
    const numbers = isPostgres(db) ? sql`returning seq` : sql``;
    this.#insert = plan((batch) => ({
      compile: () =>
        sql<{ readonly seq: number }>`insert into answer_receipts (id, key_id, body, gateway)
          ${records(batch)} ${numbers}`.compile(db),
    }));
    this.#begin = plan((batch) => ({
      compile: () => sql<never>`insert into begun_answers (id, key_id, body, gateway) ${records(batch)}`.compile(db),
    }));
    this.#end = plan((batch) => ({
      compile: () =>
        sql<never>`delete from begun_answers where id in ${listedIn<string>(db, batch.ended, 'text')}
          and ${isOwner(db, batch)}`.compile(db),
    }));
  }

  /**
   * Stores receipts, records answers that have begun and deletes the records of those that have ended, atomically.
   * Returns the number of the last receipt; 0 without any. Rejects with StoreError `superseded`, and writes nothing, also if
   * another gateway has stored a receipt of one of these answers, or has taken it over.
   */
  async keep(
    receipts: readonly NewReceipt[],
    { begun = [], ended = [], stored, gateway = this.#gateway() }: KeepOptions = {},
  ): Promise<number> {
    const batch = { json: jsonOf(receipts), gateway, settler: this.#gateway(), ended: toJson(ended) };
    const records: CompiledQuery<{ readonly seq?: number }>[] = [
      ...(receipts.length === 0 ? [] : [this.#insert(batch)]),
      ...(begun.length === 0 ? [] : [this.#begin({ ...batch, json: jsonOf(begun) })]),
    ];
    const rest = [
      ...(stored ? this.#stored.queries(stored, batch) : []),
      ...(ended.length === 0 ? [] : [this.#end(batch)]),
    ];
    const [only] = records;
    // With concurrent writers a number must not become visible before a smaller one: see `enter`.
    const writing: Promise<readonly QueryResult<{ readonly seq?: number }>[]> =
      only && records.length + rest.length === 1 && !isPostgres(this.#db)
        ? this.#db.executeQuery(only).then((result) => [result])
        : writePipelined<readonly CompiledQuery<{ readonly seq?: number }>[]>(this.#db, [...records, ...rest]);
    const results = await writing.catch((error: unknown) => {
      throw isDuplicate(error) ? new StoreError('superseded', { cause: error }) : error;
    });
    const written = results.slice(0, records.length);
    const count = written.reduce((sum, { numAffectedRows = 0n }) => sum + Number(numAffectedRows), 0);
    if (count < receipts.length + begun.length) throw new StoreError('superseded');
    const [inserted] = receipts.length === 0 ? [] : written;
    return Math.max(Number(inserted?.insertId ?? 0), ...(inserted?.rows.map(({ seq }) => seq ?? 0) ?? []));
  }

  /** Answers that a gateway has begun and not ended, oldest first; without stored ones, which can be taken over. */
  async begun(limit: number, gateway = this.#gateway()): Promise<readonly NewReceipt[]> {
    const rows = await this.#db
      .selectFrom('begun_answers')
      .where('gateway', '=', gateway)
      .where(sql<boolean>`not ${isStored}`)
      .orderBy('id')
      .limit(limit)
      .selectAll()
      .execute();
    return rows.map(({ id, key_id, body }) => ({ id, keyId: key_id, body }));
  }

  /**
   * Marks receipts of a gateway up to this number as entered in the ledger, and counts their usage, instead of what was
   * reserved for them, in the same transaction. This gateway must be the settler of that one.
   */
  async enter(seq: number, used: readonly AnswerUsage[], gateway = this.#gateway()): Promise<void> {
    const own = this.#gateway();
    const sums = summed(used);
    const rows = sums.map((sum) => valuesOf(USAGE, sum));
    const counting = sql<never>`
      insert into token_usage (${sql.join(Object.keys(USAGE).map((name) => sql.ref(name)))})
      select * from ${jsonRows(this.#db, rows, USAGE)} as new where ${settles(own, gateway)}
      on conflict (key_id, day, model) do update set
        requests = token_usage.requests + excluded.requests,
        prompt_tokens = token_usage.prompt_tokens + excluded.prompt_tokens,
        cached_tokens = token_usage.cached_tokens + excluded.cached_tokens,
        completion_tokens = token_usage.completion_tokens + excluded.completion_tokens,
        spend = token_usage.spend + excluded.spend`.compile(this.#db);
    const marking = sql<{ readonly id: number }>`update gateways set entered = ${seq}
      where id = ${gateway} and settler = ${own} returning id`.compile(this.#db);
    const { ofKeys, ofPolicies } = reservedFor(used);
    const reservedRows = (reserved: typeof ofKeys) =>
      jsonRows(
        this.#db,
        reserved.map((sum) => valuesOf(RESERVED, sum)),
        RESERVED,
      );
    const returning = sql<never>`update token_reservations set tokens = tokens - summed.used
      from ${reservedRows(ofKeys)} as summed
      where gateway = ${gateway} and token_reservations.key_id = summed.key_id and token_reservations.day = summed.day
        and ${settles(own, gateway)}`.compile(this.#db);
    // The reservation of an answer that ended in another period than it began may follow.
    const returningOfPolicies = sql<never>`insert into token_reservations (key_id, day, gateway, tokens)
      select key_id, day, ${integer(gateway)}, -used from ${reservedRows(ofPolicies)} as new
      where ${settles(own, gateway)} on conflict (key_id, day, gateway) do update
      set tokens = token_reservations.tokens + excluded.tokens`;
    const [marked] = await writePipelined(this.#db, [
      ...([marking, counting, returning, adding(this.#db, sums, settles(own, gateway))] as const),
      ...(ofPolicies.length === 0 ? [] : [returningOfPolicies.compile(this.#db)]),
    ]);
    if (marked.rows.length === 0) throw new StoreError('superseded');
  }

  /** Receipts of a gateway that are stored and not entered, oldest first. */
  async unentered(limit: number, gateway = this.#gateway()): Promise<readonly KeptReceipt[]> {
    const rows = await this.#db
      .selectFrom('answer_receipts')
      .where('gateway', '=', gateway)
      .where('seq', '>', sql<number>`(select entered from gateways where gateways.id = ${gateway})`)
      .orderBy('seq')
      .limit(limit)
      .selectAll()
      .execute();
    return rows.map(({ seq, id, key_id, body }) => ({ seq, id, keyId: key_id, body }));
  }

  /** The receipt of a key's answer, and whether it is entered; undefined for other keys. */
  async receipt(
    id: string,
    keyId: string,
  ): Promise<{ readonly body: string; readonly isEntered: boolean } | undefined> {
    const row = await this.#db
      .selectFrom('answer_receipts')
      .where('id', '=', id)
      .where('key_id', '=', keyId)
      .select(['body', sql<number>`case when ${ENTERED} then 1 else 0 end`.as('entered')])
      .executeTakeFirst();
    return row && { body: row.body, isEntered: row.entered === 1 };
  }

  /** Deletes at most `limit` entered receipts with smaller ids, oldest first; returns how many. */
  async forget(beforeId: string, limit: number): Promise<number> {
    const oldest = this.#db
      .selectFrom('answer_receipts')
      .where(ENTERED)
      .orderBy('seq')
      .limit(limit)
      .select(['seq', 'id'])
      .as('oldest');
    const { numDeletedRows } = await this.#db
      .deleteFrom('answer_receipts')
      .where('seq', 'in', this.#db.selectFrom(oldest).where('oldest.id', '<', beforeId).select('oldest.seq'))
      .executeTakeFirst();
    return Number(numDeletedRows);
  }

  /** Names of model files by SHA-256, from the newest receipts; the latest name of each file. */
  async modelNames(): Promise<ReadonlyMap<string, string>> {
    const newest = this.#db
      .selectFrom('answer_receipts')
      .orderBy('seq', 'desc')
      .limit(NAMED_BY)
      .selectAll()
      .as('newest');
    const rows = await this.#db
      .selectFrom(newest)
      .select([
        jsonText(this.#db, 'newest.body', ['model', 'sha256']).as('sha256'),
        jsonText(this.#db, 'newest.body', ['model', 'id']).as('name'),
        sql<number>`max(newest.seq)`.as('seq'),
      ])
      .groupBy(['sha256', 'name'])
      .orderBy('seq')
      .execute();
    return new Map(rows.flatMap(({ sha256, name }) => (sha256 === null || name === null ? [] : [[sha256, name]])));
  }

  /** Usage from a day on, newest day first; of one key or of all. */
  async usage({ since, keyId }: { readonly since: string; readonly keyId?: string }): Promise<readonly UsageRow[]> {
    const all = this.#db.selectFrom('token_usage').where('day', '>=', since);
    const rows = await (keyId === undefined ? all : all.where('key_id', '=', keyId))
      .orderBy('day', 'desc')
      .orderBy('key_id')
      .orderBy('model')
      .selectAll()
      .execute();
    return rows.map((row) => ({
      keyId: row.key_id,
      model: row.model,
      day: row.day,
      requests: row.requests,
      promptTokens: row.prompt_tokens,
      cachedTokens: row.cached_tokens,
      completionTokens: row.completion_tokens,
      spendMicros: row.spend,
    }));
  }
}

/** Of a row of `answer_receipts`. */
const ENTERED = sql<boolean>`answer_receipts.seq <=
  coalesce((select entered from gateways where gateways.id = answer_receipts.gateway), answer_receipts.seq)`;

/** Bodies are JSON, and ids made here: PostgreSQL accepts all of it. */
const jsonOf = (receipts: readonly NewReceipt[]): string =>
  JSON.stringify(receipts.map(({ id, keyId, body }) => [id, keyId, body]));
