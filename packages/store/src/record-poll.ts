// One poll's outcome: items that were not known with the domains that these name, in slices, and with the last slice the feed's
// state. A kill in between leaves a feed that is due and has fewer new items: the next poll brings the others.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Kysely, Selectable, Transaction } from 'kysely';
import { addItems, type DatedItem, knownKeys, slicesOf } from './add-items.ts';
import { bump } from './counters.ts';
import { MOST_URL, type PolledFeed, type RecordedPoll, stateRow } from './feed-records.ts';
import { finishLeaving, markLeaving, rememberMove } from './feed-removal.ts';
import { listed } from './json-rows.ts';
import type { Database } from './schema.ts';

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
    const known = items.length > 0 ? await knownKeys(db, feedId, items) : new Set();
    const slices = slicesOf(items.filter(({ key }) => !known.has(key)));
    const last = slices.pop() ?? [];
    const added = { items: 0, mentions: 0 };
    const add = async (tx: Transaction<Database>, slice: readonly DatedItem[]) => {
      const more = await addItems(tx, feedId, slice);
      added.items += more.items;
      added.mentions += more.mentions;
    };
    for (const slice of slices) {
      const isThere = await db.transaction().execute(async (tx) => {
        const feed = await feedRow(tx, feedId);
        if (feed) await add(tx, slice);
        return feed !== undefined;
      });
      if (!isThere) return { kind: 'removed', ...added };
      // Others have the connection, and the process its turn.
      await nextTurn();
    }
    const undated = items.filter(({ key, publishedAt }) => publishedAt === null && known.has(key));
    const kind = await db.transaction().execute(async (tx) => {
      const feed = await feedRow(tx, feedId);
      if (!feed) return 'removed';
      await bump(tx, 'feeds');
      await add(tx, last);
      if (undated.length > 0) await seeAgain(tx, { feedId, at, keys: undated.map(({ key }) => key) });
      return (await writeState(tx, feed, polled.state, at)) ? 'merged' : 'recorded';
    });
    if (kind === 'merged') await finishLeaving(db, feedId);
    return { kind, ...added };
  };
}

/** Whether another poll that began later was recorded first. One that is far ahead was recorded by a clock that was wrong. */
function isLate(at: number, polledAt: number | null): boolean {
  return polledAt !== null && at < polledAt && polledAt <= at + LONGEST_POLL_MS;
}

type FeedRow = Selectable<Database['feeds']>;

function feedRow(tx: Transaction<Database>, feedId: number): Promise<FeedRow | undefined> {
  return tx
    .selectFrom('feeds')
    .where('id', '=', feedId)
    .where('status', '!=', 'leaving')
    .selectAll()
    .executeTakeFirst();
}

async function seeAgain(
  tx: Transaction<Database>,
  { feedId, at, keys }: { readonly feedId: number; readonly at: number; readonly keys: readonly string[] },
): Promise<void> {
  await tx
    .updateTable('feed_items')
    .set({ kept_at: at })
    .where('feed_id', '=', feedId)
    .where('kept_at', '<', at - SEEN_AGAIN_MS)
    .where('key', 'in', listed(tx, keys))
    .execute();
}

/** Returns whether the feed's new address was another's already: then this one leaves, and the other gets all that it had. */
async function writeState(
  tx: Transaction<Database>,
  feed: FeedRow,
  state: PolledFeed['state'],
  at: number,
): Promise<boolean> {
  const { id } = feed;
  if (isLate(at, feed.polled_at)) {
    const next_poll_at = Math.max(feed.next_poll_at, Math.round(state.nextPollAt));
    await tx.updateTable('feeds').set({ next_poll_at }).where('id', '=', id).execute();
    return false;
  }
  const update = (url: string) =>
    tx
      .updateTable('feeds')
      .set({ ...stateRow(state), url, polled_at: at })
      .where('id', '=', id)
      .execute();
  if (state.url === feed.url || state.url.length > MOST_URL) {
    await update(feed.url);
    return false;
  }
  const other = await tx.selectFrom('feeds').where('url', '=', state.url).select(['id', 'status']).executeTakeFirst();
  if (!other) {
    await update(state.url);
    await tx.deleteFrom('feed_moves').where('url', '=', state.url).execute();
    await rememberMove(tx, feed.url, id);
    return false;
  }
  await update(feed.url);
  // Where the address is about to be free, the next poll moves there.
  if (other.status === 'leaving') return false;
  await markLeaving(tx, id, other.id);
  // What leads to a feed that was given up says that it lives.
  await tx
    .updateTable('feeds')
    .set({ ...stateRow(state), polled_at: at })
    .where('id', '=', other.id)
    .where((eb) =>
      eb.or([eb('polled_at', 'is', null), eb('polled_at', '<=', at), eb('polled_at', '>', at + LONGEST_POLL_MS)]),
    )
    .execute();
  return true;
}
