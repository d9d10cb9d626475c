// What matching reads: which lists have a domain, mentions with their items, the certificates of the domains of lists. Keeps the domains
// of lists that follow a query.
import { jsonText, listed, writeTransaction } from '@strata/db';
import { type Kysely, sql } from 'kysely';
import type { MatchedList, Rule, RuleKind } from '../../watchlists/watchlist.ts';
import type { Database } from '../schema.ts';
import { addDomains, type FollowedDomains, type QueryList, removeDomains } from './watchlist-table.ts';

export interface NamedMention {
  readonly id: number;
  readonly domain: string;
  readonly at: Date;
  readonly feed: string;
  readonly title: string | null;
  readonly url: string | null;
}

export interface WatchedCertificate {
  readonly domain: string;
  readonly expiresAt: Date | null;
}

/** A domain on a list. */
export interface Watched {
  readonly domain: string;
  readonly list: MatchedList;
}

/** Rows of a page. */
const WATCHED_ROWS = 1_000;

export class WatchedFacts {
  readonly #db: Kysely<Database>;
  readonly #now: () => Date;

  constructor(db: Kysely<Database>, now: () => Date) {
    this.#db = db;
    this.#now = now;
  }

  /** The domains on lists of valid keys, each with a list, in pages. */
  async *watching(domains: readonly string[], pageRows = WATCHED_ROWS): AsyncGenerator<Watched[]> {
    const watched = this.#db
      .selectFrom('watchlist_domains as watched')
      .innerJoin('watchlists', 'watchlists.id', 'watched.watchlist_id')
      .innerJoin('api_keys', 'api_keys.id', 'watchlists.key_id')
      .where('watched.domain', 'in', listed(this.#db, domains))
      .where('api_keys.revoked_at', 'is', null)
      .orderBy('watched.domain')
      .orderBy('watched.watchlist_id')
      .limit(pageRows)
      .select(['watched.domain', 'watched.watchlist_id as id']);
    let last = { domain: '', id: '' };
    for (let isMore = domains.length > 0; isMore; ) {
      const after = sql<boolean>`(watched.domain, watched.watchlist_id) > (${last.domain}, ${last.id})`;
      const rows = await watched.where(after).execute();
      const lists = await this.#matched([...new Set(rows.map(({ id }) => id))]);
      yield rows.flatMap(({ domain, id }) => {
        const list = lists.get(id);
        return list ? [{ domain, list }] : [];
      });
      last = rows.at(-1) ?? last;
      isMore = rows.length === pageRows;
    }
  }

  async #matched(ids: readonly string[]): Promise<ReadonlyMap<string, MatchedList>> {
    const some = this.#db.selectFrom('watchlists').where('id', 'in', listed(this.#db, ids));
    const rows = await some.select(['id', 'rules']).execute();
    return new Map(rows.map(({ id, rules }) => [id, { id, rules: JSON.parse(rules) as Rule[] }]));
  }

  /** The first list after this id, of a valid key, that follows a query. */
  async nextWithQuery(id: string): Promise<QueryList | undefined> {
    const row = await this.#queryLists(id).limit(1).executeTakeFirst();
    return row && { ...row, query: row.query ?? '' };
  }

  #queryLists(after: string) {
    return this.#db
      .selectFrom('watchlists')
      .innerJoin('api_keys', 'api_keys.id', 'watchlists.key_id')
      .where('watchlists.id', '>', after)
      .where('watchlists.query', 'is not', null)
      .where('api_keys.revoked_at', 'is', null)
      .orderBy('watchlists.id')
      .select(['watchlists.id', 'watchlists.query', 'api_keys.tier']);
  }

  /** Lists after this id, of valid keys, that follow a query, with the domains among the named ones that are on them. */
  async withQuery({
    after,
    limit,
    domains,
  }: {
    readonly after: string;
    readonly limit: number;
    readonly domains: readonly string[];
  }): Promise<(QueryList & { readonly among: readonly string[] })[]> {
    const lists = await this.#queryLists(after).limit(limit).execute();
    const rows = await this.#db
      .selectFrom('watchlist_domains')
      .where('domain', 'in', listed(this.#db, domains))
      .where(
        'watchlist_id',
        'in',
        listed(
          this.#db,
          lists.map(({ id }) => id),
        ),
      )
      .select(['watchlist_id', 'domain'])
      .execute();
    const byList = Map.groupBy(rows, (row) => row.watchlist_id);
    return lists.map(({ query, ...list }) => {
      return { ...list, query: query ?? '', among: (byList.get(list.id) ?? []).map(({ domain }) => domain) };
    });
  }

  async unfollow(left: readonly FollowedDomains[]): Promise<void> {
    if (left.length > 0) await writeTransaction(this.#db, (tx) => removeDomains(tx, left));
  }

  /** Adds domains to a list that still follows this query, as many as it may have. */
  async follow({ list: { id, query }, domains }: FollowedDomains, max: number): Promise<void> {
    await writeTransaction(this.#db, async (tx) => {
      const row = await tx
        .updateTable('watchlists')
        // Locks the row.
        .set({ id })
        .where('id', '=', id)
        .where('query', '=', query)
        .returning('domain_count')
        .executeTakeFirst();
      if (!row) return;
      await addDomains(tx, id, domains.slice(0, Math.max(0, max - row.domain_count)));
      const own = tx.selectFrom('watchlist_domains').where('watchlist_id', '=', id);
      const counted = await own.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
      await tx
        .updateTable('watchlists')
        .set({ domain_count: Number(counted.count) })
        .where('id', '=', id)
        .execute();
    });
  }

  /** Replaces the domains of a list that still follows this query. */
  async setDomains({ id, query }: QueryList, domains: readonly string[]): Promise<void> {
    const values = { domain_count: domains.length, evaluated_at: this.#now().getTime() };
    await writeTransaction(this.#db, async (tx) => {
      const list = tx.updateTable('watchlists').set(values).where('id', '=', id).where('query', '=', query);
      if (Number((await list.executeTakeFirst()).numUpdatedRows) === 0) return;
      const before = tx.deleteFrom('watchlist_domains').where('watchlist_id', '=', id);
      const old = domains.length > 0 ? before.where('domain', 'not in', listed(tx, domains)) : before;
      await old.execute();
      await addDomains(tx, id, domains);
    });
  }

  /** Mentions after a number, in order. */
  async mentionsSince(id: number, limit: number): Promise<NamedMention[]> {
    const rows = await this.#db
      .selectFrom('feed_mentions as mention')
      .innerJoin('named_domains', 'named_domains.id', 'mention.domain_id')
      .innerJoin('feeds', 'feeds.id', 'mention.feed_id')
      .leftJoin('feed_items as item', 'item.id', 'mention.item_id')
      .where('mention.id', '>', id)
      .orderBy('mention.id')
      .limit(limit)
      .select(['mention.id', 'mention.at', 'named_domains.name as domain', 'item.title', 'item.url'])
      .select(['feeds.title as feedTitle', 'feeds.url as feedUrl'])
      .execute();
    return rows.map(({ at, feedTitle, feedUrl, ...row }) => ({ ...row, at: new Date(at), feed: feedTitle ?? feedUrl }));
  }

  /** The first list after this id, of a valid key, with a rule of this kind. */
  async nextWith(rule: RuleKind, id: string): Promise<MatchedList | undefined> {
    const row = await this.#db
      .selectFrom('watchlists')
      .innerJoin('api_keys', 'api_keys.id', 'watchlists.key_id')
      .where('watchlists.id', '>', id)
      .where('watchlists.rules', 'like', `%"${rule}"%`)
      .where('api_keys.revoked_at', 'is', null)
      .orderBy('watchlists.id')
      .limit(1)
      .select(['watchlists.id', 'watchlists.rules'])
      .executeTakeFirst();
    return row && { id: row.id, rules: JSON.parse(row.rules) as Rule[] };
  }

  /** Domains of a list after this one, in order, with the end of their certificates at the last scan; scanned domains only. */
  async certificates(watchlistId: string, after: string, limit: number): Promise<WatchedCertificate[]> {
    const end = jsonText(this.#db, 'domains.summary', ['security', 'tls', 'validTo']);
    const rows = await this.#db
      .selectFrom('watchlist_domains as watched')
      .innerJoin('domains', 'domains.name', 'watched.domain')
      .where('watched.watchlist_id', '=', watchlistId)
      .where('watched.domain', '>', after)
      .orderBy('watched.domain')
      .limit(limit)
      .select(['watched.domain', sql<string | null>`${end}`.as('end')])
      .execute();
    return rows.map(({ domain, end }) => ({ domain, expiresAt: end === null ? null : new Date(end) }));
  }
}
