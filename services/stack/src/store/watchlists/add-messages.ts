// Adds messages for new notifications: to the open message of a channel that waits for a digest or the end of quiet hours, else new ones.
import { randomBytes } from 'node:crypto';
import type { Transaction } from 'kysely';
import { type Channel, MAX_PER_MESSAGE, receiverOf } from '../../watchlists/watchlist.ts';
import type { Database } from '../schema.ts';
import type { WatchlistTables } from './watchlist-tables.ts';

/** New notifications of a list for a channel, in order. */
export interface NewMessage {
  readonly watchlistId: string;
  readonly channel: Channel;
  readonly notifications: readonly number[];
  readonly dueAt: number;
}

type NewRow = Omit<WatchlistTables['watchlist_deliveries'], 'id'>;

const ROWS_AT_ONCE = 500;
/** A message that is due this soon does not grow: the sender may be reading it. */
const CLOSED_MS = 60_000;

export async function addMessages(tx: Transaction<Database>, messages: readonly NewMessage[], now: number) {
  const rows: NewRow[] = [];
  for (const message of messages) {
    const left = message.dueAt > now + CLOSED_MS ? await addToOpen(tx, message) : message.notifications;
    for (let from = 0; from < left.length; from += MAX_PER_MESSAGE)
      rows.push(messageRow({ ...message, notifications: left.slice(from, from + MAX_PER_MESSAGE) }, now));
  }
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE)
    await tx
      .insertInto('watchlist_deliveries')
      .values(rows.slice(from, from + ROWS_AT_ONCE))
      .execute();
}

/** A pending message; without notifications it is a test. */
export function messageRow({ watchlistId, channel, notifications, dueAt }: NewMessage, now: number): NewRow {
  return {
    message_id: `msg_${randomBytes(15).toString('base64url')}`,
    ...{ watchlist_id: watchlistId, channel: channel.id, receiver: receiverOf(channel) },
    kind: notifications.length === 0 ? 'test' : 'notifications',
    ...{ first_notification: notifications[0] ?? 0, last_notification: notifications.at(-1) ?? 0 },
    ...{ notifications: notifications.length, state: 'pending', attempts: 0, due_at: dueAt, created_at: now },
    ...{ finished_at: null, status: null, error: null },
  };
}

/**
 * Returns the notifications that the open message has no space for. Only the newest message of a channel grows, so that no notification
 * between its first and last one is in another message.
 */
async function addToOpen(tx: Transaction<Database>, { watchlistId, channel, notifications, dueAt }: NewMessage) {
  const newest = await tx
    .selectFrom('watchlist_deliveries')
    .where('watchlist_id', '=', watchlistId)
    .where('channel', '=', channel.id)
    .where('kind', '=', 'notifications')
    .orderBy('id', 'desc')
    .limit(1)
    .select(['id', 'notifications', 'state', 'attempts', 'due_at'])
    .executeTakeFirst();
  if (newest?.state !== 'pending' || newest.attempts > 0 || newest.due_at !== dueAt) return notifications;
  const some = notifications.slice(0, Math.max(0, MAX_PER_MESSAGE - newest.notifications));
  const last = some.at(-1);
  if (last === undefined) return notifications;
  await tx
    .updateTable('watchlist_deliveries')
    .set({ last_notification: last, notifications: newest.notifications + some.length })
    .where('id', '=', newest.id)
    .execute();
  return notifications.slice(some.length);
}
