// Counts requests by key and UTC day, atomically, across restarts and across processes on the same database.
import { type Kysely, sql } from 'kysely';
import type { CommonTables } from '../tables.ts';
import { QuotaBatches, type QuotaUse, reachedDay } from './quota-batches.ts';

/** `day` is a UTC date, `2026-01-31`. A key whose latest counted day is later stays in that day, so that setting the clock back restores no quota. */
export interface Quota {
  /** Counts requests, by default one, unless fewer remain of the day's limit. */
  take(keyId: string, day: string, limit: number, requests?: number): Promise<QuotaUse>;
  /** Requests counted so far, including unspent leases. */
  used(keyId: string, day: string): Promise<number>;
}

export class QuotaTable implements Quota {
  readonly #db: Kysely<CommonTables>;
  readonly #batches: QuotaBatches;

  constructor(db: Kysely<CommonTables>) {
    this.#db = db;
    this.#batches = new QuotaBatches(db);
  }

  async take(keyId: string, day: string, limit: number, requests = 1): Promise<QuotaUse> {
    if (requests === 1 && limit > 0) return this.#batches.take(keyId, day, limit);
    const leased = requests > limit ? undefined : await this.lease(keyId, day, { limit, count: requests });
    if (leased) return { isAllowed: true, used: leased.used };
    return { isAllowed: false, used: await this.used(keyId, day) };
  }

  /**
   * Counts `count` requests and returns their day and its new count, or undefined if fewer remain. One statement, so that two
   * processes cannot both take the last request.
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

  /** Subtracts requests that were leased but not spent. */
  async refund(keyId: string, day: string, count: number): Promise<void> {
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
