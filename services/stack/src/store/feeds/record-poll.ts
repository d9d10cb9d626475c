// Records the outcome of a poll: new items with their mentions in slices, and the feed's state with the last slice. After a kill in
// between the feed is still due, and the next poll adds the remaining items.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { counterIncrement, executePipelined, listed, writeTransaction } from '@strata/db';
import type { CompiledQuery, Kysely, Selectable, Transaction } from 'kysely';
import type { Database } from '../schema.ts';
import { type AddedItems, addItems, type DatedItem, knownKeys, slicesOf } from './add-items.ts';
import { MAX_URL, type PolledFeed, type RecordedPoll, stateRow } from './feed-records.ts';
import { finishLeaving, markLeaving, recordMove } from './feed-removal.ts';

export interface PollRecordOptions {
  /** When the feed was requested. */
  readonly at: Date;
  /** Items from before are not stored. */
  readonly keepFrom: Date;
}

const DAY_MS = 86_400_000;
/** How often `kept_at` of an undated item that is still in the feed is updated. */
const REFRESH_AFTER_MS = 30 * DAY_MS;
/** Maximum duration of a poll, from the request to the record. */
const LONGEST_POLL_MS = 600_000;

export type RecordPoll = (feedId: number, polled: PolledFeed, options: PollRecordOptions) => Promise<RecordedPoll>;

/** Idempotent. An outcome that is older than the last recorded one adds only its items. */
export function createPollRecorder(db: Kysely<Database>): RecordPoll {
  return async (feedId, polled, options) => {
    const at = options.at.getTime();
    const items = (polled.feed?.items ?? [])
      .map((item): DatedItem => ({ ...item, at: Math.min(item.publishedAt ?? at, at) }))
      .filter((item) => item.at >= options.keepFrom.getTime());
    const before = items.length > 0 ? (await db.executeQuery(knownKeys(db, feedId, items))).rows : [];
    const known = new Set(before.map(({ key }) => key));
    const slices = slicesOf(items.filter(({ key }) => !known.has(key)));
    const last = slices.pop() ?? [];
    const added = { items: 0, mentions: 0 };
    // Called after a transaction, since a retried transaction adds its items again.
    const count = ({ items, mentions }: AddedItems) => {
      added.items += items;
      added.mentions += mentions;
    };
    for (const slice of slices) {
      const more = await recordSlice(db, feedId, slice);
      if (!more) return { kind: 'removed', ...added };
      count(more);
      // Lets other queries and the event loop run between slices.
      await yieldToEventLoop();
    }
    const present = items
      .filter(({ key, publishedAt }) => publishedAt === null && known.has(key))
      .map(({ key }) => key);
    const ended = await recordSlice(db, feedId, last, { state: polled.state, at, present });
    if (!ended) return { kind: 'removed', ...added };
    count(ended);
    const kind = ended.isMerged ? 'merged' : 'recorded';
    if (kind === 'merged') await finishLeaving(db, feedId);
    return { kind, ...added };
  };
}

/** What the last slice of a poll writes in addition. */
interface PollEnd {
  readonly state: PolledFeed['state'];
  readonly at: number;
  /** Keys of known items without a date that are still in the feed. */
  readonly present: readonly string[];
}

/** Takes two round trips: one to read, one to write. Undefined if the feed is under removal. */
function recordSlice(
  db: Kysely<Database>,
  feedId: number,
  slice: readonly DatedItem[],
  end?: PollEnd,
): Promise<(AddedItems & { readonly isMerged: boolean }) | undefined> {
  return writeTransaction(db, async (tx) => {
    const [{ rows: feeds }, known] = await executePipelined(tx, [
      tx
        .selectFrom('feeds')
        .selectAll()
        .where('status', '!=', 'leaving')
        .where('id', '=', feedId)
        .unionAll(
          tx
            .selectFrom('feeds')
            .selectAll()
            .where('id', '!=', feedId)
            .where('url', '=', end?.state.url ?? ''),
        )
        .compile(),
      knownKeys(tx, feedId, slice),
    ]);
    const feed = feeds.find(({ id }) => id === feedId);
    if (!feed) return undefined;
    const { queries, added } = addItems(tx, feedId, { items: slice, known: known.rows });
    if (!end) {
      await executePipelined(tx, queries, { isLast: true });
      return { ...added, isMerged: false };
    }
    const other = feeds.find(({ id }) => id !== feedId);
    const written = stateQueries(tx, { feed, other, state: end.state, at: end.at });
    const all = [counterIncrement(tx, 'feeds'), ...queries, refreshItems(tx, feedId, end), ...written.queries];
    await executePipelined(tx, all, { isLast: true });
    return { ...added, isMerged: written.isMerged };
  });
}

/** Whether a poll that began later was recorded first. A record far in the future was written by a wrong clock. */
function isLate(at: number, polledAt: number | null): boolean {
  return polledAt !== null && at < polledAt && polledAt <= at + LONGEST_POLL_MS;
}

type FeedRow = Selectable<Database['feeds']>;

const refreshItems = (tx: Transaction<Database>, feedId: number, { present, at }: PollEnd): CompiledQuery =>
  tx
    .updateTable('feed_items')
    .set({ kept_at: at })
    .where('feed_id', '=', feedId)
    .where('kept_at', '<', at - REFRESH_AFTER_MS)
    .where('key', 'in', listed(tx, present))
    .compile();

/** If the feed's new address belongs to another feed, this one is merged into it. */
function stateQueries(
  tx: Transaction<Database>,
  poll: {
    readonly feed: FeedRow;
    /** The feed that already has the new address. */
    readonly other: FeedRow | undefined;
    readonly state: PolledFeed['state'];
    readonly at: number;
  },
): { readonly queries: readonly CompiledQuery[]; readonly isMerged: boolean } {
  const { feed, other, state, at } = poll;
  const { id } = feed;
  const recorded = (...queries: readonly CompiledQuery[]) => ({ queries, isMerged: false });
  if (isLate(at, feed.polled_at)) {
    const next_poll_at = Math.max(feed.next_poll_at, Math.round(state.nextPollAt));
    return recorded(tx.updateTable('feeds').set({ next_poll_at }).where('id', '=', id).compile());
  }
  const row = { ...stateRow(state), polled_at: at };
  const update = (url: string) =>
    tx
      .updateTable('feeds')
      .set({ ...row, url })
      .where('id', '=', id)
      .compile();
  if (state.url === feed.url || state.url.length > MAX_URL) return recorded(update(feed.url));
  if (!other) {
    const freed = tx.deleteFrom('feed_moves').where('url', '=', state.url).compile();
    return recorded(update(state.url), freed, ...recordMove(tx, feed.url, id));
  }
  // If the other feed is under removal, the next poll moves to the freed address.
  if (other.status === 'leaving') return recorded(update(feed.url));
  // A redirect to a feed with status `gone` shows that it is active again.
  const revived = tx
    .updateTable('feeds')
    .set(row)
    .where('id', '=', other.id)
    .where((eb) =>
      eb.or([eb('polled_at', 'is', null), eb('polled_at', '<=', at), eb('polled_at', '>', at + LONGEST_POLL_MS)]),
    );
  return { queries: [update(feed.url), ...markLeaving(tx, id, other.id), revived.compile()], isMerged: true };
}
