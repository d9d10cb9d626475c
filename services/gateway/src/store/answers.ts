// Receipts of the answers of the inference service, and token usage by key, model and UTC day.

import {
  type Guard,
  isPostgres,
  jsonRows,
  jsonText,
  type Plan,
  plan,
  readSetting,
  rowsIn,
  toJson,
  unguarded,
  valuesOf,
  writePipelined,
  writeSetting,
} from '@strata/db';
import { type Kysely, sql } from 'kysely';
import type { GatewayDatabase } from './tables.ts';

export interface TokensUsed {
  readonly promptTokens: number;
  /** The part of the prompt tokens that came from the prompt cache. */
  readonly cachedTokens: number;
  readonly completionTokens: number;
}

/** The usage of one answer. */
export interface AnswerUsage extends TokensUsed {
  readonly keyId: string;
  readonly model: string;
  /** UTC, `2026-01-31`. */
  readonly day: string;
}

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
}

/** Name of the setting: receipts up to this number are in the ledger, and their usage is counted. */
const ENTERED = 'answers-entered';
const ID = { id: 'text' } as const;
const RECEIPT = { id: 'text', key_id: 'text', body: 'text' } as const;
const USAGE = {
  key_id: 'text',
  day: 'text',
  model: 'text',
  requests: 'integer',
  prompt_tokens: 'integer',
  cached_tokens: 'integer',
  completion_tokens: 'integer',
} as const;
/** Model names are read from this many receipts, in well under a second. */
const NAMED_BY = 100_000;

/**
 * A receipt is stored at once and entered later in a batch: entering means that it is in the ledger and its usage is counted.
 * `unentered` finds receipts that a kill left between the two.
 */
export class AnswerTable {
  readonly #db: Kysely<GatewayDatabase>;
  readonly #guard: Guard;
  /** Compiled once, since it runs for every answer. */
  readonly #insert: Plan<{ readonly json: string }, { readonly seq: number }>;
  readonly #begin: Plan<{ readonly json: string }, never>;
  readonly #end: Plan<{ readonly json: string }, never>;

  constructor(db: Kysely<GatewayDatabase>, guard: Guard = unguarded) {
    this.#db = db;
    this.#guard = guard;
    this.#insert = plan(({ json }) => ({
      compile: () =>
        sql<{ readonly seq: number }>`insert into answer_receipts (id, key_id, body)
          select id, key_id, body from ${rowsIn(db, json, RECEIPT)} as new where true returning seq`.compile(db),
    }));
    this.#begin = plan(({ json }) => ({
      compile: () =>
        sql<never>`insert into begun_answers (id, key_id, body)
          select id, key_id, body from ${rowsIn(db, json, RECEIPT)} as new where true`.compile(db),
    }));
    this.#end = plan(({ json }) => ({
      compile: () =>
        sql<never>`delete from begun_answers where id in (select id from ${rowsIn(db, json, ID)} as ended)`.compile(db),
    }));
  }

  /**
   * Stores receipts, records answers that have begun and deletes the records of those that have ended, atomically.
   * Returns the number of the last receipt; 0 without any.
   */
  async keep(
    receipts: readonly NewReceipt[],
    { begun = [], ended = [] }: { readonly begun?: readonly NewReceipt[]; readonly ended?: readonly string[] } = {},
  ): Promise<number> {
    const insert = this.#insert({ json: jsonOf(receipts) });
    const queries = [
      ...(begun.length === 0 ? [] : [this.#begin({ json: jsonOf(begun) })]),
      ...(ended.length === 0 ? [] : [this.#end({ json: toJson(ended.map((id) => [id])) })]),
    ];
    const lastOf = (rows: readonly { readonly seq: number }[]) => Math.max(0, ...rows.map(({ seq }) => seq));
    if (queries.length === 0 && !isPostgres(this.#db)) return lastOf((await this.#db.executeQuery(insert)).rows);
    // With concurrent writers a number must not become visible before a smaller one: see `enter`.
    const [kept] = await writePipelined(this.#db, [insert, ...queries], this.#guard);
    return lastOf(kept.rows);
  }

  /** Answers that have begun and not ended, oldest first. */
  async begun(limit: number): Promise<readonly NewReceipt[]> {
    const rows = await this.#db.selectFrom('begun_answers').orderBy('id').limit(limit).selectAll().execute();
    return rows.map(({ id, key_id, body }) => ({ id, keyId: key_id, body }));
  }

  /** Marks receipts up to this number as entered in the ledger, and counts their usage in the same transaction. */
  async enter(seq: number, used: readonly AnswerUsage[]): Promise<void> {
    const rows = summed(used).map((sum) => valuesOf(USAGE, sum));
    const counting = sql<never>`
      insert into token_usage (${sql.join(Object.keys(USAGE).map((name) => sql.ref(name)))})
      select * from ${jsonRows(this.#db, rows, USAGE)} as new where true
      on conflict (key_id, day, model) do update set
        requests = token_usage.requests + excluded.requests,
        prompt_tokens = token_usage.prompt_tokens + excluded.prompt_tokens,
        cached_tokens = token_usage.cached_tokens + excluded.cached_tokens,
        completion_tokens = token_usage.completion_tokens + excluded.completion_tokens`.compile(this.#db);
    await writePipelined(this.#db, [writeSetting(this.#db, ENTERED, String(seq)), counting], this.#guard);
  }

  /** Receipts that are stored and not entered, oldest first. */
  async unentered(limit: number): Promise<readonly KeptReceipt[]> {
    const rows = await this.#db
      .selectFrom('answer_receipts')
      .where('seq', '>', await this.#entered())
      .orderBy('seq')
      .limit(limit)
      .selectAll()
      .execute();
    return rows.map(({ seq, id, key_id, body }) => ({ seq, id, keyId: key_id, body }));
  }

  /** The entered receipt of a key's answer; undefined for other keys. */
  async receipt(id: string, keyId: string): Promise<string | undefined> {
    const row = await this.#db
      .selectFrom('answer_receipts')
      .where('id', '=', id)
      .where('key_id', '=', keyId)
      .where('seq', '<=', await this.#entered())
      .select('body')
      .executeTakeFirst();
    return row?.body;
  }

  /** Deletes at most `limit` entered receipts with smaller ids, oldest first; returns how many. */
  async forget(beforeId: string, limit: number): Promise<number> {
    const oldest = this.#db
      .selectFrom('answer_receipts')
      .where('seq', '<=', await this.#entered())
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

  /** Tokens of all models that a key used on a day or later; later days exist only if the clock was set back. */
  async tokensOf(keyId: string, day: string): Promise<number> {
    const row = await this.#db
      .selectFrom('token_usage')
      .where('key_id', '=', keyId)
      .where('day', '>=', day)
      .select(sql<number>`coalesce(sum(prompt_tokens + completion_tokens), 0)`.as('n'))
      .executeTakeFirstOrThrow();
    return Number(row.n);
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
    }));
  }

  async #entered(): Promise<number> {
    return Number((await readSetting(this.#db, ENTERED)) ?? 0);
  }
}

const jsonOf = (receipts: readonly NewReceipt[]): string =>
  toJson(receipts.map(({ id, keyId, body }) => [id, keyId, body]));

/** Sums the usage by key, day and model. */
function summed(used: readonly AnswerUsage[]): GatewayDatabase['token_usage'][] {
  const sums = new Map<string, GatewayDatabase['token_usage']>();
  for (const { keyId, day, model, promptTokens, cachedTokens, completionTokens } of used) {
    const name = JSON.stringify([keyId, day, model]);
    const sum = sums.get(name) ?? {
      ...{ key_id: keyId, day, model, requests: 0, prompt_tokens: 0, cached_tokens: 0, completion_tokens: 0 },
    };
    sum.requests += 1;
    sum.prompt_tokens += promptTokens;
    sum.cached_tokens += cachedTokens;
    sum.completion_tokens += completionTokens;
    sums.set(name, sum);
  }
  return [...sums.values()];
}
