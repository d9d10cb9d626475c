// Watchlists of keys, and the domains on them.
import { randomBytes } from 'node:crypto';
import { jsonRows, listed, writeTransaction } from '@strata/db';
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import type { Channel, MatchedList, Rule, Watchlist } from '../../watchlists/watchlist.ts';
import type { Database } from '../schema.ts';

/** The content of a list that its owner decides. */
export interface WatchlistContent {
  readonly name: string;
  readonly domains: readonly string[];
  readonly rules: readonly Rule[];
  readonly channels: readonly Channel[];
}

/** Time and id of the last list of a page. */
export type WatchlistKey = readonly [createdAt: number, id: string];

export class WatchlistTable {
  readonly #db: Kysely<Database>;
  readonly #now: () => Date;

  constructor(db: Kysely<Database>, now: () => Date) {
    this.#db = db;
    this.#now = now;
  }

  /** Undefined if the key has `maxLists` lists. Rules begin with events that are matched after this call. */
  async create(keyId: string, content: WatchlistContent, maxLists: number): Promise<Watchlist | undefined> {
    const at = this.#now().getTime();
    const id = `wl_${randomBytes(12).toString('hex')}`;
    const row = { id, key_id: keyId, feed_token: randomBytes(24).toString('base64url'), created_at: at };
    return writeTransaction(this.#db, async (tx) => {
      const own = await tx.selectFrom('watchlists').where('key_id', '=', keyId).select('id').limit(maxLists).execute();
      if (own.length >= maxLists) return undefined;
      const stored = { ...row, ...rowOf(content), updated_at: at };
      await tx.insertInto('watchlists').values(stored).execute();
      await addDomains(tx, id, content.domains);
      return watchlistOf(stored);
    });
  }

  /** Undefined if the key has no such list. */
  async replace(keyId: string, id: string, content: WatchlistContent): Promise<Watchlist | undefined> {
    return writeTransaction(this.#db, async (tx) => {
      const row = await tx
        .updateTable('watchlists')
        .set({ ...rowOf(content), updated_at: this.#now().getTime() })
        .where('id', '=', id)
        .where('key_id', '=', keyId)
        .returningAll()
        .executeTakeFirst();
      if (!row) return undefined;
      await tx.deleteFrom('watchlist_domains').where('watchlist_id', '=', id).execute();
      await addDomains(tx, id, content.domains);
      return watchlistOf(row);
    });
  }

  /** Deletes a list with all that belongs to it; returns whether the key had it. */
  async delete(keyId: string, id: string): Promise<boolean> {
    return writeTransaction(this.#db, async (tx) => {
      const own = tx.deleteFrom('watchlists').where('id', '=', id).where('key_id', '=', keyId);
      const result = await own.executeTakeFirst();
      if (Number(result.numDeletedRows) === 0) return false;
      for (const table of ['watchlist_domains', 'watchlist_notifications', 'watchlist_deliveries'] as const)
        await tx.deleteFrom(table).where('watchlist_id', '=', id).execute();
      return true;
    });
  }

  /** A list of any key. */
  async find(id: string): Promise<Watchlist | undefined> {
    const row = await this.#db.selectFrom('watchlists').where('id', '=', id).selectAll().executeTakeFirst();
    return row && watchlistOf(row);
  }

  /** The lists of a key, newest first. */
  async ofKey(keyId: string, limit: number, after?: WatchlistKey): Promise<Watchlist[]> {
    const own = this.#db.selectFrom('watchlists').where('key_id', '=', keyId);
    const rest = after ? own.where(sql<boolean>`(created_at, id) < (${after[0]}, ${after[1]})`) : own;
    const rows = await rest.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).selectAll().execute();
    return rows.map(watchlistOf);
  }

  /** In alphabetical order. */
  async domainsOf(id: string): Promise<string[]> {
    const rows = await this.#db
      .selectFrom('watchlist_domains')
      .where('watchlist_id', '=', id)
      .orderBy('domain')
      .select('domain')
      .execute();
    return rows.map(({ domain }) => domain);
  }

  /** The lists of valid keys that contain any of the domains, with those that each contains. */
  async watching(domains: readonly string[]): Promise<{ list: MatchedList; domains: ReadonlySet<string> }[]> {
    if (domains.length === 0) return [];
    const rows = await this.#db
      .selectFrom('watchlist_domains as watched')
      .innerJoin('watchlists', 'watchlists.id', 'watched.watchlist_id')
      .innerJoin('api_keys', 'api_keys.id', 'watchlists.key_id')
      .where('watched.domain', 'in', listed(this.#db, domains))
      .where('api_keys.revoked_at', 'is', null)
      .select(['watchlists.id', 'watched.domain', 'watchlists.rules'])
      .execute();
    return [...Map.groupBy(rows, ({ id }) => id)].map(([id, found]) => ({
      list: { id, rules: JSON.parse(found[0]?.rules ?? '[]') as Rule[] },
      domains: new Set(found.map(({ domain }) => domain)),
    }));
  }

  /** Whether there is any list. */
  async isUsed(): Promise<boolean> {
    return (await this.#db.selectFrom('watchlists').select('id').limit(1).executeTakeFirst()) !== undefined;
  }
}

function rowOf({ name, rules, channels, domains }: WatchlistContent) {
  return { name, rules: JSON.stringify(rules), channels: JSON.stringify(channels), domain_count: domains.length };
}

/** One statement for all of them. */
async function addDomains(tx: Transaction<Database>, id: string, domains: readonly string[]): Promise<void> {
  const columns = { watchlist_id: 'text', domain: 'text' } as const;
  const rows = jsonRows(
    tx,
    domains.map((domain) => [id, domain]),
    columns,
  );
  await sql`insert into watchlist_domains (watchlist_id, domain) select * from ${rows} as new`.execute(tx);
}

function watchlistOf(row: Selectable<Database['watchlists']>): Watchlist {
  return {
    id: row.id,
    keyId: row.key_id,
    name: row.name,
    rules: JSON.parse(row.rules) as Rule[],
    channels: JSON.parse(row.channels) as Channel[],
    feedToken: row.feed_token,
    domainCount: row.domain_count,
    createdAt: new Date(row.created_at),
    updatedAt: new Date(row.updated_at),
  };
}
