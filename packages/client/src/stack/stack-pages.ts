// Paged lists: the entries of each path, and the cursor of the next page.
import type { StackPath } from './stack-request.ts';
import type {
  Advisory,
  Affected,
  Alert,
  Anomaly,
  Change,
  Customer,
  FeedLeader,
  FoundDomain,
  Migration,
  NamingFeed,
  Segment,
  StackPaths,
  WatchDelivery,
  Watchlist,
  WatchNotification,
} from './stack-types.ts';

type Leader = StackPaths['/stack/v1/stats/providers']['body']['providers'][number];
type RecordChange = StackPaths['/stack/v1/domains/{domain}/history']['body']['changes'][number];
type RecordUser = StackPaths['/stack/v1/pivot/{kind}/{value}']['body']['domains'][number];
type Event = StackPaths['/stack/v1/stream/json']['body']['events'][number];

/** The type of the entries of each list. */
export interface PagedItems {
  '/stack/v1/domains/{domain}/changes': Change;
  '/stack/v1/domains/{domain}/history': RecordChange;
  '/stack/v1/pivot/{kind}/{value}': RecordUser;
  '/stack/v1/search': FoundDomain;
  '/stack/v1/segments': Segment;
  '/stack/v1/stats/providers': Leader;
  '/stack/v1/stats/migrations': Migration;
  '/stack/v1/alerts': Alert;
  '/stack/v1/anomalies': Anomaly;
  '/stack/v1/enrichment/advisories': Advisory;
  '/stack/v1/enrichment/affected': Affected;
  '/stack/v1/feeds/domain/{domain}': NamingFeed;
  '/stack/v1/feeds/leaderboard': FeedLeader;
  '/stack/v1/providers/{provider}': FoundDomain;
  '/stack/v1/providers/{provider}/customers': Customer;
  '/stack/v1/watchlists': Watchlist;
  '/stack/v1/watchlists/{id}/notifications': WatchNotification;
  '/stack/v1/watchlists/{id}/deliveries': WatchDelivery;
  '/stack/v1/stream/json': Event;
}

/** Paths that take `cursor`. */
export type PagedPath = {
  // The query type of a path without parameters is an empty record.
  [P in StackPath]: StackPaths[P]['query'] extends Record<string, never>
    ? never
    : 'cursor' extends keyof StackPaths[P]['query']
      ? P
      : never;
}[StackPath];

interface Page<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}

type Pages = { readonly [P in PagedPath]: (body: StackPaths[P]['body']) => Page<PagedItems[P]> };

/** The caller validates the result. */
export const PAGES: Pages = {
  '/stack/v1/domains/{domain}/changes': ({ changes: items, next_cursor }) => ({ items, next_cursor }),
  '/stack/v1/domains/{domain}/history': ({ changes: items, next_cursor }) => ({ items, next_cursor }),
  '/stack/v1/pivot/{kind}/{value}': ({ domains: items, next_cursor }) => ({ items, next_cursor }),
  '/stack/v1/search': ({ results: items, next_cursor }) => ({ items, next_cursor }),
  '/stack/v1/segments': ({ segments: items, next_cursor }) => ({ items, next_cursor }),
  '/stack/v1/stats/providers': ({ providers: items, next_cursor }) => ({ items, next_cursor }),
  '/stack/v1/stats/migrations': ({ migrations: items, next_cursor }) => ({ items, next_cursor }),
  '/stack/v1/alerts': ({ alerts: items, next_cursor }) => ({ items, next_cursor }),
  '/stack/v1/anomalies': ({ anomalies: items, next_cursor }) => ({ items, next_cursor }),
  '/stack/v1/enrichment/advisories': ({ advisories: items, next_cursor }) => ({ items, next_cursor }),
  '/stack/v1/enrichment/affected': ({ affected: items, next_cursor }) => ({ items, next_cursor }),
  '/stack/v1/feeds/domain/{domain}': ({ feeds: items, next_cursor }) => ({ items, next_cursor }),
  '/stack/v1/feeds/leaderboard': ({ domains: items, next_cursor }) => ({ items, next_cursor }),
  '/stack/v1/providers/{provider}': ({ domains }) => ({ items: domains?.results, next_cursor: domains?.next_cursor }),
  '/stack/v1/providers/{provider}/customers': ({ customers: items, next_cursor }) => ({ items, next_cursor }),
  '/stack/v1/watchlists': ({ watchlists: items, next_cursor }) => ({ items, next_cursor }),
  '/stack/v1/watchlists/{id}/notifications': ({ notifications: items, next_cursor }) => ({ items, next_cursor }),
  '/stack/v1/watchlists/{id}/deliveries': ({ deliveries: items, next_cursor }) => ({ items, next_cursor }),
  '/stack/v1/stream/json': ({ events: items, next_cursor }) => ({ items, next_cursor }),
};
