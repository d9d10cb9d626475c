// Messages to channels and their attempts.
import { type Guard, listed, unguarded, writePipelined, writeTransaction } from '@strata/db';
import type { Kysely, Selectable } from 'kysely';
import type { Watchlist } from '../../watchlists/watchlist.ts';
import type { Database } from '../schema.ts';
import { messageRow } from './add-messages.ts';
import { askAddresses } from './addresses.ts';
import type { DeliveryKind, DeliveryState } from './watchlist-tables.ts';

export interface StoredDelivery {
  readonly id: number;
  readonly messageId: string;
  readonly watchlistId: string;
  readonly channel: string;
  readonly receiver: string;
  readonly kind: DeliveryKind;
  readonly firstNotification: number;
  readonly lastNotification: number;
  readonly notifications: number;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly dueAt: Date;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
  readonly status: number | null;
  readonly error: string | null;
}

/** The result of an attempt; `dueAt` is that of the next one. */
export interface Attempted {
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly at: Date;
  readonly dueAt?: Date | undefined;
  readonly status: number | null;
  readonly error: string | null;
}

/** A message to send, with the key of its list. */
export interface DueDelivery extends StoredDelivery {
  readonly keyId: string;
}

export interface DueOptions {
  readonly limit: number;
  readonly keys: readonly string[];
  readonly lists: readonly string[];
  readonly receivers: readonly string[];
}

export interface DeliveryFilter {
  readonly state?: DeliveryState | undefined;
  readonly limit: number;
  /** The number of a message: earlier ones only. */
  readonly before?: number | undefined;
}

export class DeliveryTable {
  readonly #db: Kysely<Database>;
  readonly #guard: Guard;

  constructor(db: Kysely<Database>, guard: Guard = unguarded) {
    this.#db = db;
    this.#guard = guard;
  }

  /** Pending messages whose time has come, longest due first, except those of these keys, lists and receivers. */
  async due(at: Date, { limit, keys, lists, receivers }: DueOptions): Promise<DueDelivery[]> {
    let due = this.#db.selectFrom('watchlist_deliveries').where('state', '=', 'pending');
    due = due.where('due_at', '<=', at.getTime());
    if (lists.length > 0) due = due.where('watchlist_id', 'not in', listed(this.#db, lists));
    if (receivers.length > 0) due = due.where('receiver', 'not in', listed(this.#db, receivers));
    if (keys.length > 0) {
      const own = this.#db.selectFrom('watchlists').where('key_id', 'in', listed(this.#db, keys)).select('id');
      due = due.where('watchlist_id', 'not in', own);
    }
    const rows = await due
      .orderBy('due_at')
      .orderBy('id')
      .limit(limit)
      .selectAll()
      .select(({ selectFrom }) =>
        selectFrom('watchlists')
          .whereRef('watchlists.id', '=', 'watchlist_deliveries.watchlist_id')
          .select('key_id')
          .as('key_id'),
      )
      .execute();
    return rows.map((row) => ({ ...deliveryOf(row), keyId: row.key_id ?? '' }));
  }

  /** Records an attempt. After a kill before this call the message is sent again, with the same id. */
  async record(id: number, { state, attempts, at, dueAt, status, error }: Attempted): Promise<void> {
    const finished = state === 'pending' ? null : at.getTime();
    const update = this.#db
      .updateTable('watchlist_deliveries')
      .set({ state, attempts, status, error, finished_at: finished, ...(dueAt && { due_at: dueAt.getTime() }) })
      .where('id', '=', id);
    await writePipelined(this.#db, [update.compile()], this.#guard);
  }

  /** Adds a test message to each channel, and a new question to addresses that did not confirm; undefined while a test of the list is pending. */
  async addTests(list: Watchlist, now: Date): Promise<StoredDelivery[] | undefined> {
    const at = now.getTime();
    const message = { watchlistId: list.id, notifications: [], dueAt: at };
    const rows = list.channels.map((channel) => messageRow({ ...message, channel }, at));
    return writeTransaction(this.#db, async (tx) => {
      const pending = await tx
        .selectFrom('watchlist_deliveries')
        .where('watchlist_id', '=', list.id)
        .where('state', '=', 'pending')
        .where('kind', '=', 'test')
        .select('id')
        .limit(1)
        .executeTakeFirst();
      if (pending) return undefined;
      await askAddresses(tx, list, at);
      const added = await tx.insertInto('watchlist_deliveries').values(rows).returningAll().execute();
      return added.map(deliveryOf);
    });
  }

  /** Newest first. */
  async list(watchlistId: string, { state, limit, before }: DeliveryFilter): Promise<StoredDelivery[]> {
    let own = this.#db.selectFrom('watchlist_deliveries').where('watchlist_id', '=', watchlistId);
    if (state !== undefined) own = own.where('state', '=', state);
    if (before !== undefined) own = own.where('id', '<', before);
    return (await own.orderBy('id', 'desc').limit(limit).selectAll().execute()).map(deliveryOf);
  }

  /** Makes a message due now, whatever its state; undefined if the list has no such message. A confirmation is sent once. */
  async replay(watchlistId: string, messageId: string, now: Date): Promise<StoredDelivery | undefined> {
    const row = await this.#db
      .updateTable('watchlist_deliveries')
      .set({ state: 'pending', attempts: 0, due_at: now.getTime(), finished_at: null, status: null, error: null })
      .where('watchlist_id', '=', watchlistId)
      .where('message_id', '=', messageId)
      .where('kind', '!=', 'confirmation')
      .returningAll()
      .executeTakeFirst();
    return row && deliveryOf(row);
  }
}

function deliveryOf(row: Selectable<Database['watchlist_deliveries']>): StoredDelivery {
  return {
    id: row.id,
    messageId: row.message_id,
    watchlistId: row.watchlist_id,
    channel: row.channel,
    receiver: row.receiver,
    kind: row.kind,
    firstNotification: row.first_notification,
    lastNotification: row.last_notification,
    notifications: row.notifications,
    state: row.state,
    attempts: row.attempts,
    dueAt: new Date(row.due_at),
    createdAt: new Date(row.created_at),
    finishedAt: row.finished_at === null ? null : new Date(row.finished_at),
    status: row.status,
    error: row.error,
  };
}
