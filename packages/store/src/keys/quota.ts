// Requests counted by key and UTC day, atomically: holds across restarts and across processes on the same database.
import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema.ts';
import { QuotaBatches, type QuotaUse, reachedDay } from './quota-batches.ts';

/** Counts requests. `day` is a UTC date, `2026-01-31`; a key for which a later one was counted stays in that: a clock set back brings none back. */
export interface Quota {
  /** Counts one request unless the day's limit is reached. */
  take(keyId: string, day: string, limit: number): Promise<QuotaUse>;
  /** Requests counted so far, those that processes hold to spend included. */
  used(keyId: string, day: string): Promise<number>;
}

export class QuotaTable implements Quota {
  readonly #db: Kysely<Database>;
  readonly #turns: QuotaBatches;

  constructor(db: Kysely<Database>) {
    this.#db = db;
    this.#turns = new QuotaBatches(db);
  }

  async take(keyId: string, day: string, limit: number): Promise<QuotaUse> {
    return limit > 0 ? this.#turns.take(keyId, day, limit) : { isAllowed: false, used: 0 };
  }

  /**
   * Counts so many at once and returns the day that they are of and its new count, or undefined when fewer are left. One statement, so
   * that two processes cannot both take the last.
   */
  async lease(
    keyId: string,
    day: string,
    { limit, count }: { readonly limit: number; readonly count: number },
  ): Promise<{ readonly day: string; readonly used: number } | undefined> {
    return this.#db
      .insertInto('quota_usage')
      .values({ key_id: keyId, day: reachedDay(sql.val(keyId), day), used: count })
      .onConflict((conflict) =>
        conflict
          .columns(['key_id', 'day'])
          .doUpdateSet((eb) => ({ used: eb('quota_usage.used', '+', count) }))
          .where('quota_usage.used', '<=', limit - count),
      )
      .returning(['day', 'used'])
      .executeTakeFirst();
  }

  /** Takes back so many that were counted and not spent. */
  async giveBack(keyId: string, day: string, count: number): Promise<void> {
    await this.#db
      .updateTable('quota_usage')
      .set((eb) => ({ used: eb('used', '-', count) }))
      .where('key_id', '=', keyId)
      .where('day', '=', day)
      .execute();
  }

  async used(keyId: string, day: string): Promise<number> {
    const row = await this.#db
      .selectFrom('quota_usage')
      .where('key_id', '=', keyId)
      .where('day', '=', day)
      .select('used')
      .executeTakeFirst();
    return row?.used ?? 0;
  }
}
