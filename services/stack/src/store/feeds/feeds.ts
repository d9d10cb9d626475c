// Subscribed feeds: adding, recording polls, and removal. feed-mentions.ts reads what they name.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { batches, counterIncrement, integer, jsonRows, listed, writePipelined } from '@strata/db';
import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema.ts';
import { forgetItems } from './drop-items.ts';
import { FeedMentions } from './feed-mentions.ts';
import { FeedOffers } from './feed-offers.ts';
import {
  cutText,
  MAX_TITLE,
  MAX_URL,
  type NewFeed,
  type PolledFeed,
  type RecordedPoll,
  type StoredFeed,
  storedFeed,
  textWithin,
} from './feed-records.ts';
import { finishAllLeaving, removeFeed } from './feed-removal.ts';
import { FeedSchedule } from './feed-schedule.ts';
import { createPollRecorder, type PollRecordOptions, type RecordPoll } from './record-poll.ts';

export interface AddedFeeds {
  readonly added: number;
  readonly known: number;
  /** Feeds that had the status `gone` and are polled again. */
  readonly revived: number;
  /** URLs that are too long. */
  readonly refused: number;
}

export interface AddOptions {
  /** Whether feeds with status `gone` are polled again, and former addresses of feeds added again; true by default. */
  readonly isReviving?: boolean;
}

/** Totals of all feeds. */
export interface FeedSummary {
  readonly active: number;
  readonly gone: number;
  /** Active feeds that were polled at least once, and those whose last poll failed. */
  readonly polled: number;
  readonly failing: number;
  readonly items: number;
  readonly mentions: number;
  readonly lastPollAt: Date | null;
}

/** Feeds in one transaction. */
const ADD_BATCH = 500;

export class FeedTable {
  readonly #db: Kysely<Database>;
  readonly #record: RecordPoll;
  readonly schedule: FeedSchedule;
  /** What the items name. */
  readonly mentions: FeedMentions;
  /** The queue of named domains for the scan. */
  readonly offers: FeedOffers;

  constructor(db: Kysely<Database>) {
    this.#db = db;
    this.#record = createPollRecorder(db);
    this.schedule = new FeedSchedule(db);
    this.mentions = new FeedMentions(db);
    this.offers = new FeedOffers(db);
  }

  /** Subscribes to feeds, in batches. New feeds are due at once. */
  async add(feeds: Iterable<NewFeed>, at: Date, options: AddOptions = {}): Promise<AddedFeeds> {
    // Frees addresses of feeds under removal.
    await this.finishLeaving();
    const counts = { added: 0, known: 0, revived: 0, refused: 0 };
    for (const batch of batches(feeds, ADD_BATCH)) {
      const kept = batch.filter(({ url }) => url.length <= MAX_URL);
      counts.refused += batch.length - kept.length;
      const { added, revived } = await addFeeds(this.#db, kept, { at, isReviving: options.isReviving ?? true });
      counts.added += added;
      counts.revived += revived;
      counts.known += kept.length - added - revived;
      await yieldToEventLoop();
    }
    return counts;
  }

  /** All feeds in the order of addition, in pages. */
  async list({ after, limit }: { readonly after: number; readonly limit: number }): Promise<StoredFeed[]> {
    const rows = await this.#db
      .selectFrom('feeds')
      .where('id', '>', after)
      .orderBy('id')
      .limit(limit)
      .selectAll()
      .execute();
    return rows.map(storedFeed);
  }

  async find(url: string): Promise<StoredFeed | undefined> {
    const row = await this.#db.selectFrom('feeds').where('url', '=', url).selectAll().executeTakeFirst();
    return row && storedFeed(row);
  }

  /** Removes a feed with its items and their mentions. Returns whether it existed. */
  async remove(url: string): Promise<boolean> {
    const feed = await this.find(url);
    if (feed) await removeFeed(this.#db, feed.id);
    return feed !== undefined;
  }

  /** Writes the outcome of a poll, its state last. Idempotent. */
  record(feedId: number, polled: PolledFeed, options: PollRecordOptions): Promise<RecordedPoll> {
    return this.#record(feedId, polled, options);
  }

  /** Continues interrupted removals and mergers. */
  finishLeaving(): Promise<void> {
    return finishAllLeaving(this.#db);
  }

  /** Deletes a batch of at most `limit` items from before a time; returns how many. */
  forget(before: Date, limit: number): Promise<number> {
    return forgetItems(this.#db, before.getTime(), limit);
  }

  async summary(): Promise<FeedSummary> {
    const row = await this.#db
      .selectFrom('feeds')
      .select([
        sql<number>`coalesce(sum(case when status = 'active' then 1 else 0 end), 0)`.as('active'),
        sql<number>`coalesce(sum(case when status = 'gone' then 1 else 0 end), 0)`.as('gone'),
        sql<number>`coalesce(sum(case when status = 'active' and polled_at is not null then 1 else 0 end), 0)`.as(
          'polled',
        ),
        sql<number>`coalesce(sum(case when status = 'active' and failures > 0 then 1 else 0 end), 0)`.as('failing'),
        sql<number>`coalesce(sum(items), 0)`.as('items'),
        sql<number>`coalesce(sum(mentions), 0)`.as('mentions'),
        sql<number | null>`max(polled_at)`.as('last'),
      ])
      .executeTakeFirstOrThrow();
    const { active, gone, polled, failing, items, mentions, last } = row;
    const lastPollAt = last === null ? null : new Date(last);
    return { active, gone, polled, failing, items, mentions, lastPollAt };
  }
}

const NEW_FEEDS = { position: 'integer', url: 'text', title: 'text', site_url: 'text' } as const;

/** Adds feeds that do not exist. With `isReviving`, feeds with status `gone` are polled again, and former addresses are added again. */
async function addFeeds(
  db: Kysely<Database>,
  feeds: readonly NewFeed[],
  { at, isReviving }: { readonly at: Date; readonly isReviving: boolean },
): Promise<{ readonly added: number; readonly revived: number }> {
  const urls = listed(db, isReviving ? feeds.map(({ url }) => url) : []);
  const rows = feeds.map(({ url, title = null, siteUrl = null }, index) => [
    index,
    url,
    cutText(title, MAX_TITLE),
    textWithin(siteUrl, MAX_URL),
  ]);
  const [revived, , added] = await writePipelined(db, [
    sql<never>`update feeds set status = 'active', next_poll_at = 0, failures = 0, error = null
      where status = 'gone' and url in ${urls}`.compile(db),
    sql<never>`delete from feed_moves where url in ${urls}`.compile(db),
    // Existing feeds are excluded before the insert: a conflict would use up a number.
    sql<never>`
      insert into feeds (url, status, next_poll_at, added_at, title, site_url)
      select new.url, 'active', 0, ${integer(at.getTime())}, new.title, new.site_url
      from ${jsonRows(db, rows, NEW_FEEDS)} as new
      where not exists (select 1 from feed_moves where feed_moves.url = new.url)
        and not exists (select 1 from feeds where feeds.url = new.url)
      order by new.position
      on conflict (url) do nothing`.compile(db),
    counterIncrement(db, 'feeds'),
  ]);
  return { added: Number(added.numAffectedRows ?? 0), revived: Number(revived.numAffectedRows ?? 0) };
}
