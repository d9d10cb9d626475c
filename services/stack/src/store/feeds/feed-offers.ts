// The queue of domains that feeds name, to be offered to the scan. A domain is enqueued in the transaction of its first mention
// and stays until it is processed: a kill, an exhausted daily limit or a disabled setting loses none.

import { listed, readSetting, writePipelined, writeSetting, writeTransaction } from '@strata/db';
import type { Kysely } from 'kysely';
import { isFollowed } from '../domains/forget-domains.ts';
import type { Database } from '../schema.ts';

export interface OfferedDomain {
  readonly id: number;
  readonly name: string;
  /** Whether it is tracked already. */
  readonly isTracked: boolean;
}

/** Name of the setting that counts the domains added to the scan on one day. */
const SCAN_DAY = 'feed-scan-day';

export class FeedOffers {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  /** Domains in the queue, the latest first, so that a backlog does not delay new ones. */
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

  /** Removes domains from the queue. */
  async done(domains: readonly Pick<OfferedDomain, 'id'>[], at: Date): Promise<void> {
    const ids = domains.map(({ id }) => id);
    // A transaction takes the writer lock: a poll that names the same domains locks their rows in another order.
    const offering = this.#db
      .updateTable('named_domains')
      .set({ offered_at: at.getTime() })
      .where('id', 'in', listed(this.#db, ids))
      .where('offered_at', 'is', null);
    await writePipelined(this.#db, [offering.compile()]);
  }

  /** The first of these names that fit in the limit of that UTC day; they are counted. */
  async take(names: readonly string[], options: { readonly day: string; readonly perDay: number }): Promise<string[]> {
    return writeTransaction(this.#db, async (tx) => {
      const [day, count] = (await readSetting(tx, SCAN_DAY))?.split(' ') ?? [];
      const counted = day === options.day ? Number(count) : 0;
      const taken = names.slice(0, Math.max(0, options.perDay - counted));
      if (taken.length === 0) return [];
      await tx.executeQuery(writeSetting(tx, SCAN_DAY, `${options.day} ${counted + taken.length}`));
      return taken;
    });
  }
}
