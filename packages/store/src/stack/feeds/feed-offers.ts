// Domains that feeds name, on their way to the scan. Each waits from the transaction that names it first until it was dealt with:
// a kill, a full day or a setting that was off loses none of them.
import type { Kysely } from 'kysely';
import { readSetting, writeSetting } from '../../db/settings.ts';
import { listed } from '../../db/statements/json-rows.ts';
import { writeTogether, writeTransaction } from '../../db/transactions/write-transaction.ts';
import type { Database } from '../../schema.ts';
import { isFollowed } from '../domains/forget-domains.ts';

export interface OfferedDomain {
  readonly id: number;
  readonly name: string;
  /** Whether it is scanned, or waits for its first scan, already. */
  readonly isTracked: boolean;
}

/** Name of the setting that counts the domains given to the scan on one day. */
const SCAN_DAY = 'feed-scan-day';

export class FeedOffers {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  /** Those that wait, the latest first: what piled up keeps nobody waiting who comes now. */
  async waiting(limit: number): Promise<OfferedDomain[]> {
    const rows = await this.#db
      .selectFrom('named_domains')
      .leftJoin('domains', (join) => join.onRef('domains.name', '=', 'named_domains.name').on(isFollowed))
      .where('named_domains.offered_at', 'is', null)
      .orderBy('named_domains.id', 'desc')
      .limit(limit)
      .select(['named_domains.id', 'named_domains.name', 'domains.id as tracked'])
      .execute();
    return rows.map(({ id, name, tracked }) => ({ id, name, isTracked: tracked !== null }));
  }

  /** These were dealt with. */
  async done(domains: readonly Pick<OfferedDomain, 'id'>[], at: Date): Promise<void> {
    const ids = domains.map(({ id }) => id);
    // A transaction, which waits for its turn: a poll that names the same domains takes their rows in another order.
    const offering = this.#db
      .updateTable('named_domains')
      .set({ offered_at: at.getTime() })
      .where('id', 'in', listed(this.#db, ids))
      .where('offered_at', 'is', null);
    await writeTogether(this.#db, [offering.compile()]);
  }

  /** Of these names, as many as may still be given to the scan on that UTC day; they count as given. */
  async take(names: readonly string[], options: { readonly day: string; readonly perDay: number }): Promise<string[]> {
    return writeTransaction(this.#db, async (tx) => {
      const [day, count] = (await readSetting(tx, SCAN_DAY))?.split(' ') ?? [];
      const given = day === options.day ? Number(count) : 0;
      const taken = names.slice(0, Math.max(0, options.perDay - given));
      if (taken.length === 0) return [];
      await tx.executeQuery(writeSetting(tx, SCAN_DAY, `${options.day} ${given + taken.length}`));
      return taken;
    });
  }
}
