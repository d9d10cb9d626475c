// What the inference service remembers of answers: their receipts, and what was used by key, model and UTC day.
import { type CompiledQuery, type Kysely, sql } from 'kysely';
import { inTurn } from './in-turn.ts';
import { jsonText } from './json-rows.ts';
import { isPostgres } from './postgres-dialect.ts';
import type { Database } from './schema.ts';
import { type Guard, unguarded } from './term.ts';

export interface TokensUsed {
  readonly promptTokens: number;
  /** Of the prompt's, read before. */
  readonly cachedTokens: number;
  readonly completionTokens: number;
}

/** What one answer used. */
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
  /** Its place in the order in which they were kept. */
  readonly seq: number;
}

export interface UsageRow extends AnswerUsage {
  readonly requests: number;
}

/** Name of the setting: receipts up to this number are in the ledger, and what their answers used is counted. */
const ENTERED = 'answers-entered';
/** Names of models are read from so many receipts, in well under a second. */
const NAMED_BY = 100_000;

/**
 * A receipt is kept at once and entered later, with many others: then it is in the ledger, and what its answer used is
 * counted. What a kill leaves between the two is found by `unentered`.
 */
export class AnswerTable {
  readonly #db: Kysely<Database>;
  readonly #guard: Guard;
  /** Written once: it runs for every answer. */
  readonly #insert: CompiledQuery;

  constructor(db: Kysely<Database>, guard: Guard = unguarded) {
    this.#db = db;
    this.#guard = guard;
    this.#insert = db.insertInto('answer_receipts').values({ id: '', key_id: '', body: '' }).returning('seq').compile();
  }

  /** Keeps receipts, all or none; returns the number of the last one. At least one. */
  async keep(receipts: readonly NewReceipt[]): Promise<number> {
    const insert = async (db: Kysely<Database>, { id, keyId, body }: NewReceipt) => {
      const { rows } = await db.executeQuery({ ...this.#insert, parameters: [id, keyId, body] });
      return (rows[0] as { readonly seq: number }).seq;
    };
    const [only, ...more] = receipts;
    if (!only) throw new RangeError('there is no receipt to keep');
    // Where others write beside, a number must not be seen before a smaller one: see `enter`.
    if (more.length === 0 && !isPostgres(this.#db)) return insert(this.#db, only);
    return inTurn(this.#db, async (tx) => {
      await this.#guard(tx);
      let seq = 0;
      for (const receipt of receipts) seq = await insert(tx, receipt);
      return seq;
    });
  }

  /** Receipts up to this number are in the ledger; counts what their answers used, in the same transaction. */
  async enter(seq: number, used: readonly AnswerUsage[]): Promise<void> {
    await inTurn(this.#db, async (tx) => {
      await this.#guard(tx);
      await tx
        .insertInto('settings')
        .values({ name: ENTERED, value: String(seq) })
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: String(seq) }))
        .execute();
      for (const sum of summed(used)) {
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

  /** Receipts that were kept and not entered, oldest first. */
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

  /** The receipt of a key's answer, once it was entered; of another key's there is none. */
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

  /** Forgets at most so many entered receipts with ids before this one, oldest first; returns how many. */
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

  /** Names of model files by SHA-256, as the newest receipts tell them: of each file the last one. */
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

  /** Tokens of all models that a key used on a day; where the clock was set back, also those of the later days that it had reached. */
  async tokensOf(keyId: string, day: string): Promise<number> {
    const row = await this.#db
      .selectFrom('token_usage')
      .where('key_id', '=', keyId)
      .where('day', '>=', day)
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

  async #entered(): Promise<number> {
    const row = await this.#db.selectFrom('settings').where('name', '=', ENTERED).select('value').executeTakeFirst();
    return Number(row?.value ?? 0);
  }
}

/** One row for each key, day and model. */
function summed(used: readonly AnswerUsage[]): Database['token_usage'][] {
  const sums = new Map<string, Database['token_usage']>();
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
