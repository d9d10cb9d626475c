// What the inference service remembers of answers: their receipts, and what was used by key, model and UTC day.
import { type Kysely, sql } from 'kysely';
import type { Database } from './schema.ts';

export interface TokensUsed {
  readonly promptTokens: number;
  /** Of the prompt's, read before. */
  readonly cachedTokens: number;
  readonly completionTokens: number;
}

export interface AnsweredRequest extends TokensUsed {
  readonly keyId: string;
  readonly model: string;
  /** UTC, `2026-01-31`. */
  readonly day: string;
  /** Id of the receipt; ids sort by time. */
  readonly receiptId: string;
  /** The signed receipt, JSON. */
  readonly receipt: string;
}

export interface UsageRow extends TokensUsed {
  readonly keyId: string;
  readonly model: string;
  readonly day: string;
  readonly requests: number;
}

export interface KeptReceipt {
  readonly id: string;
  readonly body: string;
}

export class AnswerTable {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  /** Keeps receipts and counts what was used, in one transaction. */
  async record(requests: readonly AnsweredRequest[]): Promise<void> {
    if (requests.length === 0) return;
    await this.#db.transaction().execute(async (tx) => {
      for (const { receiptId, keyId, receipt } of requests)
        await tx.insertInto('answer_receipts').values({ id: receiptId, key_id: keyId, body: receipt }).execute();
      for (const sum of summed(requests)) {
        await tx
          .insertInto('token_usage')
          .values(sum)
          .onConflict((conflict) =>
            conflict.columns(['key_id', 'day', 'model']).doUpdateSet((eb) => ({
              requests: eb('token_usage.requests', '+', sum.requests),
              prompt_tokens: eb('token_usage.prompt_tokens', '+', sum.prompt_tokens),
              cached_tokens: eb('token_usage.cached_tokens', '+', sum.cached_tokens),
              completion_tokens: eb('token_usage.completion_tokens', '+', sum.completion_tokens),
            })),
          )
          .execute();
      }
    });
  }

  /** Receipts whose leaf is not known to be in the ledger, oldest first. */
  async unlogged(limit: number): Promise<readonly KeptReceipt[]> {
    const rows = await this.#db
      .selectFrom('answer_receipts')
      .where('is_logged', '=', 0)
      .orderBy('id')
      .limit(limit)
      .select(['id', 'body'])
      .execute();
    return rows.map(({ id, body }) => ({ id, body }));
  }

  async markLogged(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    // One statement for each: lists of every length would each be prepared anew.
    await this.#db.transaction().execute(async (tx) => {
      for (const id of ids)
        await tx.updateTable('answer_receipts').set({ is_logged: 1 }).where('id', '=', id).execute();
    });
  }

  /** The receipt of a key's answer, once its leaf is in the ledger; of another key's there is none. */
  async receipt(id: string, keyId: string): Promise<string | undefined> {
    const row = await this.#db
      .selectFrom('answer_receipts')
      .where('id', '=', id)
      .where('key_id', '=', keyId)
      .where('is_logged', '=', 1)
      .select('body')
      .executeTakeFirst();
    return row?.body;
  }

  /** Forgets at most so many receipts with ids before this one; returns how many. */
  async forget(beforeId: string, limit: number): Promise<number> {
    const { numAffectedRows = 0n } = await sql`delete from answer_receipts where id in (
        select id from answer_receipts where id < ${beforeId} and is_logged = 1 order by id limit ${limit})`.execute(
      this.#db,
    );
    return Number(numAffectedRows);
  }

  /** Tokens of all models that a key used on a day. */
  async tokensOf(keyId: string, day: string): Promise<number> {
    const row = await this.#db
      .selectFrom('token_usage')
      .where('key_id', '=', keyId)
      .where('day', '=', day)
      .select(sql<number>`coalesce(sum(prompt_tokens + completion_tokens), 0)`.as('n'))
      .executeTakeFirstOrThrow();
    return Number(row.n);
  }

  /** What was used from that day on, newest day first; of one key or of all. */
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
}

/** One row for each key, day and model. */
function summed(requests: readonly AnsweredRequest[]): Database['token_usage'][] {
  const sums = new Map<string, Database['token_usage']>();
  for (const { keyId, day, model, promptTokens, cachedTokens, completionTokens } of requests) {
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
