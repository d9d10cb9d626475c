// The public description of this installation: `/site.json` of the gateway.
import { useQuery } from '@tanstack/react-query';

export interface Site {
  /** URL of the explorer of the stack service; null if it is not configured. */
  readonly explorerUrl: string | null;
  /** Free keys per client address and day; 0: only the operator creates keys. */
  readonly freeKeysPerDay: number;
}

const DEFAULT_SITE: Site = { explorerUrl: null, freeKeysPerDay: 0 };

/** The valid fields of the description. */
export function siteOf(body: unknown): Site {
  const fields = (typeof body === 'object' ? body : null) as Record<string, unknown> | null;
  const url =
    typeof fields?.explorer_url === 'string' && URL.canParse(fields.explorer_url) ? fields.explorer_url : null;
  const keys = fields?.free_keys_per_day;
  return {
    explorerUrl: url !== null && /^https?:$/.test(new URL(url).protocol) ? url : null,
    freeKeysPerDay: typeof keys === 'number' && keys > 0 ? keys : 0,
  };
}

/** Undefined while loading; the defaults if it cannot be loaded. */
export function useSite(): Site | undefined {
  const { data, isError } = useQuery({
    queryKey: ['site'],
    queryFn: async ({ signal }) => {
      const response = await fetch('/site.json', { signal });
      return siteOf(response.ok ? await response.json() : null);
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return isError ? DEFAULT_SITE : data;
}
