// What rules reported, each once, and the position of matching in the logs.
import { type Guard, listed, readSetting, unguarded, writePipelined, writeSetting, writeTransaction } from '@strata/db';
import { type Kysely, sql, type Transaction } from 'kysely';
import type { Match } from '../../watchlists/match.ts';
import { dueAt } from '../../watchlists/schedule.ts';
import type { Channel, Notification } from '../../watchlists/watchlist.ts';
import type { Database } from '../schema.ts';
import { addMessages } from './add-messages.ts';
import { deleteList, type FollowedDomains, removeDomains } from './watchlist-table.ts';

/** The last event and the last mention that were matched. */
export interface MatchedTo {
  readonly seq: number;
  readonly mention: number;
  /** Earlier events that could not be matched and are tried again. */
  readonly left?: readonly number[];
}

export interface StoredNotification extends Notification {
  readonly id: number;
  readonly createdAt: Date;
}

export interface PruneOptions {
  readonly before: Date;
  readonly revoked: Date;
  /** Rows of a table. */
  readonly limit: number;
}

const CURSOR = 'watchlist-cursor';
const ROWS_AT_ONCE = 500;

export class NotificationTable {
  readonly #db: Kysely<Database>;
  readonly #guard: Guard;

  constructor(db: Kysely<Database>, guard: Guard = unguarded) {
    this.#db = db;
    this.#guard = guard;
  }

  /** Undefined before the first call of `moveTo` or `record`. */
  async matchedTo(): Promise<MatchedTo | undefined> {
    const value = await readSetting(this.#db, CURSOR);
    return value === undefined ? undefined : (JSON.parse(value) as MatchedTo);
  }

  /** Moves the position past events that no list is about. */
  async moveTo(to: MatchedTo): Promise<void> {
    await writePipelined(this.#db, [writeSetting(this.#db, CURSOR, JSON.stringify(to))], this.#guard);
  }

  /**
   * Stores notifications and the messages that carry them, moves the position, and removes domains that left lists with these
   * events, in one transaction. After a kill before the position was moved the events are matched again. Skipped: an
   * event that the rule has reported, and a list that was deleted.
   */
  async record(
    matches: readonly Match[],
    { to, left = [], now }: { readonly to?: MatchedTo; readonly left?: readonly FollowedDomains[]; readonly now: Date },
  ): Promise<void> {
    const at = now.getTime();
    await writeTransaction(this.#db, async (tx) => {
      await this.#guard(tx);
      const channels = await channelsOf(tx, new Set(matches.map(({ watchlistId }) => watchlistId)));
      const existing = matches.filter(({ watchlistId }) => channels.has(watchlistId));
      const added = await addNew(tx, existing, at);
      const messages = [...Map.groupBy(added, (row) => row.watchlist_id)].flatMap(([watchlistId, rows]) => {
        const notifications = rows.map(({ id }) => id).sort((a, b) => a - b);
        return (channels.get(watchlistId) ?? []).map((channel) => ({
          ...{ watchlistId, channel, notifications, dueAt: dueAt(at, channel) },
        }));
      });
      await addMessages(tx, messages, at);
      await removeDomains(tx, left);
      if (to) await tx.executeQuery(writeSetting(tx, CURSOR, JSON.stringify(to)));
    });
  }

  /** Newest first, before a number. */
  async list(watchlistId: string, limit: number, before?: number): Promise<StoredNotification[]> {
    const own = this.#db.selectFrom('watchlist_notifications').where('watchlist_id', '=', watchlistId);
    const rest = before === undefined ? own : own.where('id', '<', before);
    return (await rest.orderBy('id', 'desc').limit(limit).selectAll().execute()).map(storedNotification);
  }

  /** Those of a message, oldest first. */
  async between(watchlistId: string, first: number, last: number): Promise<StoredNotification[]> {
    const rows = await this.#db
      .selectFrom('watchlist_notifications')
      .where('watchlist_id', '=', watchlistId)
      .where('id', '>=', first)
      .where('id', '<=', last)
      .orderBy('id')
      .selectAll()
      .execute();
    return rows.map(storedNotification);
  }

  /**
   * Deletes notifications and messages from before a time; a message that old is finished. Also deletes a list whose key was revoked
   * before `revoked`, and addresses that were asked and never confirmed. Returns whether there may be more.
   */
  async prune({ before, revoked, limit }: PruneOptions): Promise<boolean> {
    return writeTransaction(this.#db, async (tx) => {
      await this.#guard(tx);
      const list = await tx
        .selectFrom('watchlists')
        .innerJoin('api_keys', 'api_keys.id', 'watchlists.key_id')
        .where('api_keys.revoked_at', '<', revoked.getTime())
        .select('watchlists.id')
        .limit(1)
        .executeTakeFirst();
      if (list) await deleteList(tx, list.id);
      let deleted = 0;
      for (const table of ['watchlist_notifications', 'watchlist_deliveries'] as const) {
        const oldest = sql`(select id, created_at from ${sql.table(table)} order by id limit ${sql.lit(limit)}) as oldest`;
        const last = sql<number>`(select max(id) from ${oldest} where created_at < ${before.getTime()})`;
        const result = await tx.deleteFrom(table).where('id', '<=', last).executeTakeFirst();
        deleted = Math.max(deleted, Number(result.numDeletedRows));
      }
      const unanswered = tx.deleteFrom('watchlist_addresses').where('state', '=', 'waiting');
      await unanswered.where('asked_at', '<', before.getTime()).execute();
      return list !== undefined || deleted >= limit;
    });
  }
}

async function channelsOf(tx: Transaction<Database>, ids: ReadonlySet<string>) {
  if (ids.size === 0) return new Map<string, readonly Channel[]>();
  const rows = await tx
    .selectFrom('watchlists')
    .where('id', 'in', listed(tx, [...ids]))
    .select(['id', 'channels'])
    .execute();
  return new Map(rows.map(({ id, channels }) => [id, JSON.parse(channels) as readonly Channel[]]));
}

async function addNew(tx: Transaction<Database>, matches: readonly Match[], createdAt: number) {
  const added: { readonly id: number; readonly watchlist_id: string }[] = [];
  for (let from = 0; from < matches.length; from += ROWS_AT_ONCE) {
    const rows = matches.slice(from, from + ROWS_AT_ONCE).map(({ watchlistId, rule, event, notification }) => ({
      ...{ watchlist_id: watchlistId, rule, event, created_at: createdAt, body: JSON.stringify(notification) },
    }));
    const result = await tx
      .insertInto('watchlist_notifications')
      .values(rows)
      .onConflict((conflict) => conflict.columns(['watchlist_id', 'rule', 'event']).doNothing())
      .returning(['id', 'watchlist_id'])
      .execute();
    added.push(...result);
  }
  return added;
}

function storedNotification(row: { readonly id: number; readonly created_at: number; readonly body: string }) {
  const notification = JSON.parse(row.body) as Notification;
  return { ...notification, id: row.id, createdAt: new Date(row.created_at) };
}
