// The polling schedule of subscribed feeds: which feeds are due, and claims of one process.
import { writePipelined } from '@strata/db';
import { type ExpressionBuilder, type Kysely, sql } from 'kysely';
import type { Database } from '../schema.ts';
import { type StoredFeed, storedFeed } from './feed-records.ts';

/** A feed that is due, in the order of `due`. */
export interface DueFeed extends DuePosition {
  readonly url: string;
}

export interface DuePosition {
  readonly dueAt: number;
  readonly id: number;
}

/** Longer than any valid wait: back-offs and intervals set by servers are limited to a month. */
const LONGEST_WAIT_MS = 35 * 86_400_000;

export class FeedSchedule {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  /**
   * Feeds to poll, after a position: never polled first, then the longest overdue. Feeds with an invalid due time in the far
   * future, which were polled while the clock was ahead, come last.
   */
  async due(now: Date, { after, limit }: { readonly after?: DuePosition; readonly limit: number }): Promise<DueFeed[]> {
    const page = (from: number, upTo: number, limit: number) =>
      this.#db
        .selectFrom('feeds')
        .where('status', '=', 'active')
        .where('next_poll_at', '>', from)
        .where('next_poll_at', '<=', upTo)
        .$if(after !== undefined, (query) =>
          query.where(sql<boolean>`(next_poll_at, id) > (${after?.dueAt}, ${after?.id})`),
        )
        .orderBy('next_poll_at')
        .orderBy('id')
        .limit(limit)
        .select(['id', 'url', 'next_poll_at as dueAt'])
        .execute();
    const due = await page(-1, now.getTime(), limit);
    if (due.length === limit) return due;
    const ahead = await page(now.getTime() + LONGEST_WAIT_MS, Number.MAX_SAFE_INTEGER, limit - due.length);
    return [...due, ...ahead];
  }

  /** Claims a due feed until a time, so that no other process polls it. Undefined if another process has claimed or polled it. */
  async claim(
    id: number,
    { now, until }: { readonly now: Date; readonly until: Date },
  ): Promise<StoredFeed | undefined> {
    const row = await this.#db
      .updateTable('feeds')
      .set({ next_poll_at: until.getTime() })
      .where('id', '=', id)
      .where('status', '=', 'active')
      .where((eb) => isDue(eb, now))
      .returningAll()
      .executeTakeFirst();
    return row && storedFeed(row);
  }

  /** Releases a claim that was not recorded: the feed is due. */
  async release(id: number, { now, until }: { readonly now: Date; readonly until: Date }): Promise<void> {
    await this.#db
      .updateTable('feeds')
      .set({ next_poll_at: now.getTime() })
      .where('id', '=', id)
      .where('next_poll_at', '=', until.getTime())
      .execute();
  }

  async countDue(now: Date): Promise<number> {
    const row = await this.#db
      .selectFrom('feeds')
      .where('status', '=', 'active')
      .where((eb) => isDue(eb, now))
      .select(sql<number>`count(*)`.as('n'))
      .executeTakeFirstOrThrow();
    return row.n;
  }

  /** Makes every active feed due at once; returns how many there are. */
  async markAllDue(): Promise<number> {
    // A transaction takes the writer lock: other transactions lock several feeds in another order.
    const marking = this.#db.updateTable('feeds').set({ next_poll_at: 0 }).where('status', '=', 'active');
    const [{ numAffectedRows }] = await writePipelined(this.#db, [marking.compile()]);
    return Number(numAffectedRows);
  }
}

function isDue(eb: ExpressionBuilder<Database, 'feeds'>, now: Date) {
  const at = now.getTime();
  return eb.or([eb('next_poll_at', '<=', at), eb('next_poll_at', '>', at + LONGEST_WAIT_MS)]);
}
