// Paged lists: the entries and the total in the answer of each path.
import type { StackPath } from './stack-request.ts';
import type { Advisory, Affected, Change, Customer, FoundDomain, Migration, StackPaths } from './stack-types.ts';

/** Paths that take `offset`. */
export type PagedPath = {
  // The query type of a path without parameters is an empty record.
  [P in StackPath]: StackPaths[P]['query'] extends Record<string, never>
    ? never
    : 'offset' extends keyof StackPaths[P]['query']
      ? P
      : never;
}[StackPath];

/** The type of the entries of each list. */
export interface PagedItems {
  '/stack/v1/domains/{domain}/changes': Change;
  '/stack/v1/search': FoundDomain;
  '/stack/v1/enrichment/advisories': Advisory;
  '/stack/v1/enrichment/affected': Affected;
  '/stack/v1/providers/{provider}': FoundDomain;
  '/stack/v1/providers/{provider}/customers': Customer;
  '/stack/v1/stats/migrations': Migration;
}

interface Page<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}

type Pages = { readonly [P in PagedPath]: (body: StackPaths[P]['body']) => Page<PagedItems[P]> };

/** The caller validates the result. */
export const PAGES: Pages = {
  '/stack/v1/domains/{domain}/changes': ({ changes, total }) => ({ items: changes, total }),
  '/stack/v1/search': ({ results, total }) => ({ items: results, total }),
  '/stack/v1/enrichment/advisories': ({ advisories, total }) => ({ items: advisories, total }),
  '/stack/v1/enrichment/affected': ({ affected, total }) => ({ items: affected, total }),
  '/stack/v1/providers/{provider}': ({ domains }) => ({ items: domains?.results, total: domains?.total }),
  '/stack/v1/providers/{provider}/customers': ({ customers, total }) => ({ items: customers, total }),
  // Without a window, the list has more entries than its total.
  '/stack/v1/stats/migrations': ({ migrations, offset, has_more }) => ({
    items: migrations,
    total: offset + migrations?.length + Number(has_more),
  }),
};
