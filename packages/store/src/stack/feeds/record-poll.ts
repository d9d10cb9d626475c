// One poll's outcome: items that were not known with the domains that these name, in slices, and with the last slice the feed's
// state. A kill in between leaves a feed that is due and has fewer new items: the next poll brings the others.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CompiledQuery, Kysely, Selectable, Transaction } from 'kysely';
import { bumping } from '../../db/counters.ts';
import { listed } from '../../db/statements/json-rows.ts';
import { together } from '../../db/statements/together.ts';
import { writeTransaction } from '../../db/transactions/write-transaction.ts';
import type { Database } from '../../schema.ts';
import { type AddedItems, addItems, type DatedItem, knownKeys, slicesOf } from './add-items.ts';
import { MAX_URL, type PolledFeed, type RecordedPoll, stateRow } from './feed-records.ts';
import { finishLeaving, markLeaving, rememberMove } from './feed-removal.ts';

export interface PollRecordOptions {
  /** When the feed was asked. */
  readonly at: Date;
  /** Items of before are not kept. */
  readonly keepFrom: Date;
}

const DAY_MS = 86_400_000;
/** An item without a date is marked as still there when the last mark is this old: not with every poll. */
const SEEN_AGAIN_MS = 30 * DAY_MS;
/** No poll takes longer, from the question to the record. */
const LONGEST_POLL_MS = 600_000;

export type RecordPoll = (feedId: number, polled: PolledFeed, options: PollRecordOptions) => Promise<RecordedPoll>;

/** The same outcome given twice changes nothing. One that is older than the last one adds its items alone. */
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
    // Once a transaction is through: one that is run again adds anew.
    const count = ({ items, mentions }: AddedItems) => {
      added.items += items;
      added.mentions += mentions;
    };
    for (const slice of slices) {
      const more = await recordSlice(db, feedId, slice);
      if (!more) return { kind: 'removed', ...added };
      count(more);
      // Others have the connection, and the process its turn.
      await nextTurn();
    }
    const seen = items.filter(({ key, publishedAt }) => publishedAt === null && known.has(key)).map(({ key }) => key);
    const ended = await recordSlice(db, feedId, last, { state: polled.state, at, seen });
    if (!ended) return { kind: 'removed', ...added };
    count(ended);
    const kind = ended.isMerged ? 'merged' : 'recorded';
    if (kind === 'merged') await finishLeaving(db, feedId);
    return { kind, ...added };
  };
}

/** What the last slice of a poll brings with it. */
interface PollEnd {
  readonly state: PolledFeed['state'];
  readonly at: number;
  /** Keys of known items without a date that are still there. */
  readonly seen: readonly string[];
}

/** In two round trips: what is known, and everything written. Undefined when the feed is removed. */
function recordSlice(
  db: Kysely<Database>,
  feedId: number,
  slice: readonly DatedItem[],
  end?: PollEnd,
): Promise<(AddedItems & { readonly isMerged: boolean }) | undefined> {
  return writeTransaction(db, async (tx) => {
    const [{ rows: feeds }, known] = await together(tx, [
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
      await together(tx, queries, { isLast: true });
      return { ...added, isMerged: false };
    }
    const other = feeds.find(({ id }) => id !== feedId);
    const written = stateQueries(tx, { feed, other, state: end.state, at: end.at });
    const all = [bumping(tx, 'feeds'), ...queries, seeAgain(tx, feedId, end), ...written.queries];
    await together(tx, all, { isLast: true });
    return { ...added, isMerged: written.isMerged };
  });
}

/** Whether another poll that began later was recorded first. One that is far ahead was recorded by a clock that was wrong. */
function isLate(at: number, polledAt: number | null): boolean {
  return polledAt !== null && at < polledAt && polledAt <= at + LONGEST_POLL_MS;
}

type FeedRow = Selectable<Database['feeds']>;

const seeAgain = (tx: Transaction<Database>, feedId: number, { seen, at }: PollEnd): CompiledQuery =>
  tx
    .updateTable('feed_items')
    .set({ kept_at: at })
    .where('feed_id', '=', feedId)
    .where('kept_at', '<', at - SEEN_AGAIN_MS)
    .where('key', 'in', listed(tx, seen))
    .compile();

/** Merged: the feed's new address was another's already; then this one leaves, and the other gets all that it had. */
function stateQueries(
  tx: Transaction<Database>,
  poll: {
    readonly feed: FeedRow;
    /** The other feed with the new address, if there is one. */
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
    return recorded(update(state.url), freed, ...rememberMove(tx, feed.url, id));
  }
  // Where the address is about to be free, the next poll moves there.
  if (other.status === 'leaving') return recorded(update(feed.url));
  // What leads to a feed that was given up says that it lives.
  const revived = tx
    .updateTable('feeds')
    .set(row)
    .where('id', '=', other.id)
    .where((eb) =>
      eb.or([eb('polled_at', 'is', null), eb('polled_at', '<=', at), eb('polled_at', '>', at + LONGEST_POLL_MS)]),
    );
  return { queries: [update(feed.url), ...markLeaving(tx, id, other.id), revived.compile()], isMerged: true };
}
