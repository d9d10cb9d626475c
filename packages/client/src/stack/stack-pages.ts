// Paged lists: where the body of each path has the entries, and the cursor of the next page.
import type { StackPath } from './stack-request.ts';
import type { StackPaths } from './stack-types.ts';

/** Paths that take `cursor`. */
export type PagedPath = {
  // The query type of a path without parameters is an empty record.
  [P in StackPath]: StackPaths[P]['query'] extends Record<string, never>
    ? never
    : 'cursor' extends keyof StackPaths[P]['query']
      ? P
      : never;
}[StackPath];

/** The field of the entries. */
const LISTS = {
  '/stack/v1/domains/{domain}/changes': 'changes',
  '/stack/v1/domains/{domain}/history': 'changes',
  '/stack/v1/pivot/{kind}/{value}': 'domains',
  '/stack/v1/search': 'results',
  '/stack/v1/segments': 'segments',
  '/stack/v1/stats/providers': 'providers',
  '/stack/v1/stats/migrations': 'migrations',
  '/stack/v1/alerts': 'alerts',
  '/stack/v1/anomalies': 'anomalies',
  '/stack/v1/enrichment/advisories': 'advisories',
  '/stack/v1/enrichment/affected': 'affected',
  '/stack/v1/feeds/domain/{domain}': 'feeds',
  '/stack/v1/feeds/leaderboard': 'domains',
  '/stack/v1/providers/{provider}': 'results',
  '/stack/v1/providers/{provider}/customers': 'customers',
  '/stack/v1/watchlists': 'watchlists',
  '/stack/v1/watchlists/{id}/notifications': 'notifications',
  '/stack/v1/watchlists/{id}/deliveries': 'deliveries',
  '/stack/v1/stream/json': 'events',
} as const satisfies Readonly<Record<PagedPath, string>>;

/** A provider has its list in a field of its own. */
const PROVIDER = '/stack/v1/providers/{provider}';
type Page<P extends PagedPath> = P extends typeof PROVIDER
  ? NonNullable<StackPaths[typeof PROVIDER]['body']['domains']>
  : StackPaths[P]['body'];

/** The type of the entries of each list. */
export type PagedItems = {
  [P in PagedPath]: Page<P> extends { readonly [Field in (typeof LISTS)[P]]: readonly (infer Item)[] } ? Item : never;
};

/** The page in a body; the caller validates the result. */
export function pageIn(path: PagedPath, body: object): { readonly items: unknown; readonly next: unknown } {
  const { domains } = body as { readonly domains?: unknown };
  const page: Readonly<Record<string, unknown>> = Object(path === PROVIDER ? domains : body);
  return { items: page[LISTS[path]], next: page.next_cursor };
}
