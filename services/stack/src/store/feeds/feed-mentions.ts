// Reads mentions: in order, for counts in memory, and by domain.
import type { Mention } from '@strata/feeds';
import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema.ts';
import { mentionsEpoch } from './drop-items.ts';

export interface StoredMention extends Mention {
  /** Increases with every mention; never reused. */
  readonly id: number;
}

/** A position in the mentions by time. */
export interface MentionPosition {
  readonly at: number;
  readonly id: number;
}

export interface NamedDomainFacts {
  readonly mentions: number;
  readonly feeds: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

/** A feed that names a domain, with the latest item that does. */
export interface NamingFeed {
  readonly id: number;
  readonly url: string;
  readonly title: string | null;
  readonly siteUrl: string | null;
  readonly mentions: number;
  readonly lastAt: Date;
  readonly latest: { readonly title: string | null; readonly url: string | null; readonly publishedAt: Date | null };
}

/** Position in the list of feeds that mention a domain: mentions, and the feed's number. */
export type NamingFeedKey = readonly [mentions: number, id: number];

export class FeedMentions {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  /** The greatest mention number; 0 without mentions. */
  async latestId(): Promise<number> {
    const row = await this.#db
      .selectFrom('feed_mentions')
      .orderBy('id', 'desc')
      .limit(1)
      .select('id')
      .executeTakeFirst();
    return row?.id ?? 0;
  }

  /** Changes when mentions are deleted: earlier counts must then be rebuilt. */
  epoch(): Promise<number> {
    return mentionsEpoch(this.#db);
  }

  async since(id: number, limit: number): Promise<StoredMention[]> {
    return this.#read().where('feed_mentions.id', '>', id).orderBy('feed_mentions.id').limit(limit).execute();
  }

  /** Mentions up to a number, by time, after a position. */
  async page(
    after: MentionPosition,
    options: { readonly upToId: number; readonly limit: number },
  ): Promise<StoredMention[]> {
    return this.#read()
      .where(sql<boolean>`(feed_mentions.at, feed_mentions.id) > (${after.at}, ${after.id})`)
      .where('feed_mentions.id', '<=', options.upToId)
      .orderBy('feed_mentions.at')
      .orderBy('feed_mentions.id')
      .limit(options.limit)
      .execute();
  }

  #read() {
    return (
      this.#db
        .selectFrom('feed_mentions')
        .innerJoin('named_domains', 'named_domains.id', 'feed_mentions.domain_id')
        // Mentions of a feed under removal are excluded, however far the removal has progressed.
        .where('feed_mentions.feed_id', 'not in', (eb) =>
          eb.selectFrom('feeds').where('status', '=', 'leaving').where('merges_into', 'is', null).select('feeds.id'),
        )
        .select([
          'feed_mentions.id',
          'feed_mentions.feed_id as feedId',
          'named_domains.name as domain',
          'feed_mentions.at',
        ])
    );
  }

  /** Undefined if no stored item names the domain. */
  async domain(name: string): Promise<NamedDomainFacts | undefined> {
    const row = await this.#db.selectFrom('named_domains').where('name', '=', name).selectAll().executeTakeFirst();
    if (!row) return undefined;
    const { feeds } = await this.#db
      .selectFrom('feed_domains')
      .where('domain_id', '=', row.id)
      .select(sql<number>`count(*)`.as('feeds'))
      .executeTakeFirstOrThrow();
    return { mentions: row.mentions, feeds, firstAt: new Date(row.first_at), lastAt: new Date(row.last_at) };
  }

  /** Feeds that name the domain, by number of mentions in descending order. */
  async feedsNaming(name: string, limit: number, after?: NamingFeedKey): Promise<NamingFeed[]> {
    const all = this.#db
      .selectFrom('feed_domains')
      .innerJoin('feeds', 'feeds.id', 'feed_domains.feed_id')
      .where('feed_domains.domain_id', '=', (eb) =>
        eb.selectFrom('named_domains').where('name', '=', name).select('named_domains.id'),
      );
    const rest = after
      ? all
          .where('feed_domains.mentions', '<=', after[0])
          .where((is) => is.or([is('feed_domains.mentions', '<', after[0]), is('feed_domains.feed_id', '<', after[1])]))
      : all;
    const rows = await rest
      .orderBy('feed_domains.mentions', 'desc')
      .orderBy('feed_domains.feed_id', 'desc')
      .limit(limit)
      .select(['feed_domains.domain_id', 'feed_domains.feed_id', 'feed_domains.mentions', 'feed_domains.last_at'])
      .select(['feeds.url', 'feeds.title', 'feeds.site_url'])
      .execute();
    const feeds: NamingFeed[] = [];
    for (const row of rows) {
      const latest = await this.#latest(row.domain_id, row.feed_id);
      feeds.push({
        id: row.feed_id,
        url: row.url,
        title: row.title,
        siteUrl: row.site_url,
        mentions: row.mentions,
        lastAt: new Date(row.last_at),
        latest,
      });
    }
    return feeds;
  }

  async #latest(domainId: number, feedId: number): Promise<NamingFeed['latest']> {
    const row = await this.#db
      .selectFrom('feed_mentions')
      .innerJoin('feed_items', 'feed_items.id', 'feed_mentions.item_id')
      .where('feed_mentions.domain_id', '=', domainId)
      .where('feed_mentions.feed_id', '=', feedId)
      .orderBy('feed_mentions.at', 'desc')
      .orderBy('feed_mentions.id', 'desc')
      .limit(1)
      .select(['feed_items.title', 'feed_items.url', 'feed_items.published_at'])
      .executeTakeFirst();
    return {
      title: row?.title ?? null,
      url: row?.url ?? null,
      publishedAt: row?.published_at == null ? null : new Date(row.published_at),
    };
  }
}
