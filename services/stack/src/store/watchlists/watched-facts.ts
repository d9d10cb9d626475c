// What rules about feeds and certificates read: mentions with their items, and the certificates of the domains of lists.
import { jsonText } from '@strata/db';
import { type Kysely, sql } from 'kysely';
import type { MatchedList, Rule, RuleKind } from '../../watchlists/watchlist.ts';
import type { Database } from '../schema.ts';

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

export class WatchedFacts {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
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
