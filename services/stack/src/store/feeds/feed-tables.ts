// The tables of subscribed feeds, for Kysely.
import type { MentionKind } from '@strata/feeds';
import type { Generated } from 'kysely';

export interface FeedTables {
  feeds: {
    id: Generated<number>;
    url: string;
    /** `leaving`: being removed, or merged into `merges_into`; see feed-removal.ts. */
    status: 'active' | 'gone' | 'leaving';
    merges_into: number | null;
    etag: string | null;
    last_modified: string | null;
    /** 0 until the first poll, so that it sorts first. */
    next_poll_at: number;
    failures: Generated<number>;
    error: string | null;
    title: string | null;
    site_url: string | null;
    last_new_at: number | null;
    read_at: number | null;
    ttl_ms: number | null;
    /** Bit sets of hours and of days; bit 0 is the first. */
    skip_hours: Generated<number>;
    skip_days: Generated<number>;
    added_at: number;
    polled_at: number | null;
    /** Stored items. */
    items: Generated<number>;
    mentions: Generated<number>;
  };
  feed_moves: {
    id: Generated<number>;
    url: string;
    feed_id: number;
  };
  feed_items: {
    id: Generated<number>;
    feed_id: number;
    key: string;
    url: string | null;
    title: string | null;
    published_at: number | null;
    /** The time that retention counts from: the item's date, or when it was last known to be in the feed. */
    kept_at: number;
  };
  named_domains: {
    id: Generated<number>;
    name: string;
    mentions: number;
    first_at: number;
    last_at: number;
    offered_at: number | null;
  };
  feed_mentions: {
    id: Generated<number>;
    item_id: number;
    /** Copied from the item, so that the latest item of a feed that names a domain is one look-up. */
    feed_id: number;
    domain_id: number;
    kind: MentionKind;
    at: number;
  };
  feed_domains: {
    domain_id: number;
    feed_id: number;
    mentions: number;
    last_at: number;
  };
}
