// The public description of this installation.
import { fieldsOf, linkOf, useSiteQuery } from '../ui/site.ts';

interface Site {
  /** URL of the explorer of the stack service; undefined if it is not configured. */
  readonly explorerUrl: string | undefined;
  /** Free keys per client address and day; 0: only the operator creates keys. */
  readonly freeKeysPerDay: number;
}

/** The valid fields of the description. */
export function siteOf(body: unknown): Site {
  const { explorer_url, free_keys_per_day: keys } = fieldsOf(body);
  return { explorerUrl: linkOf(explorer_url), freeKeysPerDay: typeof keys === 'number' && keys > 0 ? keys : 0 };
}

/** Undefined while loading; the defaults if it cannot be loaded. */
export function useSite(): Site | undefined {
  const { data, isError } = useSiteQuery(siteOf);
  return isError ? siteOf(null) : data;
}
