// Requests counted by key and UTC day, atomically: holds across restarts and across processes on the same database.
import type { Kysely } from 'kysely';
import type { Database } from './schema.ts';

export class QuotaTable {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  /** Counts one request unless the day's limit is reached. One statement, so that two processes cannot both take the last. */
  async take(
    keyId: string,
    day: string,
    limit: number,
  ): Promise<{ readonly isAllowed: boolean; readonly used: number }> {
    if (limit <= 0) return { isAllowed: false, used: 0 };
    const row = await this.#db
      .insertInto('quota_usage')
      .values({ key_id: keyId, day, used: 1 })
      .onConflict((conflict) =>
        conflict
          .columns(['key_id', 'day'])
          .doUpdateSet((eb) => ({ used: eb('quota_usage.used', '+', 1) }))
          .where('quota_usage.used', '<', limit),
      )
      .returning('used')
      .executeTakeFirst();
    return row ? { isAllowed: true, used: row.used } : { isAllowed: false, used: limit };
  }

  /** Requests counted so far. */
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
