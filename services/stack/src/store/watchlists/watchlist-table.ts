// Watchlists of keys, and the domains on them.
import { randomBytes } from 'node:crypto';
import { jsonRows, listed, writeTransaction } from '@strata/db';
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import type { Channel, Rule, Watchlist } from '../../watchlists/watchlist.ts';
import type { Database } from '../schema.ts';
import { type AddressProblem, askAddresses, withConfirmations } from './addresses.ts';

/** A list that follows a query, and the tier of its key. */
export interface QueryList {
  readonly id: string;
  readonly query: string;
  readonly tier: string;
}

export interface FollowedDomains {
  readonly list: QueryList;
  readonly domains: readonly string[];
}

/** The content of a list that its owner decides. */
export interface WatchlistContent {
  readonly name: string;
  readonly domains: readonly string[];
  /** Decides the domains from now on. */
  readonly query?: string | undefined;
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

  /** Rules begin with events that are matched after this call. The owners of new e-mail addresses are asked at `now`. */
  async create(
    keyId: string,
    content: WatchlistContent,
    { maxLists, now }: { readonly maxLists: number; readonly now: Date },
  ): Promise<Watchlist | AddressProblem | 'too_many_lists'> {
    const at = this.#now().getTime();
    const id = `wl_${randomBytes(12).toString('hex')}`;
    const row = { id, key_id: keyId, feed_token: randomBytes(24).toString('base64url'), created_at: at };
    return writeTransaction(this.#db, async (tx) => {
      const own = await tx.selectFrom('watchlists').where('key_id', '=', keyId).select('id').limit(maxLists).execute();
      if (own.length >= maxLists) return 'too_many_lists';
      const problem = await askAddresses(tx, { id, keyId, channels: content.channels }, now.getTime());
      if (problem) return problem;
      const stored = { ...row, ...rowOf(content, at) };
      await tx.insertInto('watchlists').values(stored).execute();
      await addDomains(tx, id, content.domains);
      return one(await withConfirmations(tx, [watchlistOf(stored)]));
    });
  }

  /** Undefined if the key has no such list. */
  async replace(
    { id, keyId }: Pick<Watchlist, 'id' | 'keyId'>,
    content: WatchlistContent,
    now: Date,
  ): Promise<Watchlist | AddressProblem | undefined> {
    return writeTransaction(this.#db, async (tx) => {
      const problem = await askAddresses(tx, { id, keyId, channels: content.channels }, now.getTime());
      if (problem) return problem;
      const row = await tx
        .updateTable('watchlists')
        .set(rowOf(content, this.#now().getTime()))
        .where('id', '=', id)
        .where('key_id', '=', keyId)
        .returningAll()
        .executeTakeFirst();
      if (!row) return undefined;
      await tx.deleteFrom('watchlist_domains').where('watchlist_id', '=', id).execute();
      await addDomains(tx, id, content.domains);
      return one(await withConfirmations(tx, [watchlistOf(row)]));
    });
  }

  /** Returns whether the key had this list. */
  async delete(keyId: string, id: string): Promise<boolean> {
    return writeTransaction(this.#db, async (tx) => {
      const own = tx.selectFrom('watchlists').where('id', '=', id).where('key_id', '=', keyId).select('id');
      if (!(await own.executeTakeFirst())) return false;
      await deleteList(tx, id);
      return true;
    });
  }

  /** A list of any key. */
  async find(id: string): Promise<Watchlist | undefined> {
    const row = await this.#db.selectFrom('watchlists').where('id', '=', id).selectAll().executeTakeFirst();
    return row && one(await withConfirmations(this.#db, [watchlistOf(row)]));
  }

  /** The lists of a key, newest first. */
  async ofKey(keyId: string, limit: number, after?: WatchlistKey): Promise<Watchlist[]> {
    const own = this.#db.selectFrom('watchlists').where('key_id', '=', keyId);
    const rest = after ? own.where(sql<boolean>`(created_at, id) < (${after[0]}, ${after[1]})`) : own;
    const rows = await rest.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).selectAll().execute();
    return withConfirmations(this.#db, rows.map(watchlistOf));
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

  /** Whether there is any list. */
  async isUsed(): Promise<boolean> {
    return (await this.#db.selectFrom('watchlists').select('id').limit(1).executeTakeFirst()) !== undefined;
  }
}

const one = ([list]: readonly Watchlist[]) => list as Watchlist;

/** Deletes a list with all that belongs to it. */
export async function deleteList(tx: Transaction<Database>, id: string): Promise<void> {
  await tx.deleteFrom('watchlists').where('id', '=', id).execute();
  for (const table of ['watchlist_domains', 'watchlist_notifications', 'watchlist_deliveries'] as const)
    await tx.deleteFrom(table).where('watchlist_id', '=', id).execute();
}

function rowOf({ name, rules, channels, domains, query }: WatchlistContent, at: number) {
  return {
    ...{ name, rules: JSON.stringify(rules), channels: JSON.stringify(channels), domain_count: domains.length },
    ...{ query: query ?? null, evaluated_at: query === undefined ? null : at, updated_at: at },
  };
}

/** One statement for all of them. */
export async function addDomains(tx: Transaction<Database>, id: string, domains: readonly string[]): Promise<void> {
  const columns = { watchlist_id: 'text', domain: 'text' } as const;
  const rows = jsonRows(
    tx,
    domains.map((domain) => [id, domain]),
    columns,
  );
  await sql`insert into watchlist_domains (watchlist_id, domain) select * from ${rows} as new
    where true on conflict do nothing`.execute(tx);
}

/** Removes domains from lists that still follow these queries, with two statements for all of them. */
export async function removeDomains(tx: Transaction<Database>, leaving: readonly FollowedDomains[]): Promise<void> {
  if (leaving.length === 0) return;
  const rows = leaving.flatMap(({ list, domains }) => domains.map((domain) => [list.id, list.query, domain]));
  const given = jsonRows(tx, rows, { id: 'text', query: 'text', domain: 'text' });
  await sql`delete from watchlist_domains where (watchlist_id, domain) in (select given.id, given.domain
    from ${given} as given join watchlists on watchlists.id = given.id and watchlists.query = given.query)`.execute(tx);
  const ids = listed(
    tx,
    leaving.map(({ list }) => list.id),
  );
  await sql`update watchlists set domain_count = (select count(*) from watchlist_domains where watchlist_id = watchlists.id)
    where id in ${ids}`.execute(tx);
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
    query: row.query ?? undefined,
    evaluatedAt: row.evaluated_at === null ? undefined : new Date(row.evaluated_at),
    createdAt: new Date(row.created_at),
    updatedAt: new Date(row.updated_at),
  };
}
