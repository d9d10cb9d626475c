// What this installation tells about itself before anybody has a key: `/site.json` of the gateway.
import { useQuery } from '@tanstack/react-query';

export interface Site {
  /** Where the explorer of the stack service is; null where nobody said. */
  readonly explorerUrl: string | null;
  /** Keys that an address may get in a day; 0: whoever runs the service makes keys. */
  readonly freeKeysPerDay: number;
}

const NOTHING: Site = { explorerUrl: null, freeKeysPerDay: 0 };

/** What is told and can be used. */
export function siteOf(body: unknown): Site {
  const told = (typeof body === 'object' ? body : null) as Record<string, unknown> | null;
  const url = typeof told?.explorer_url === 'string' && URL.canParse(told.explorer_url) ? told.explorer_url : null;
  const keys = told?.free_keys_per_day;
  return {
    explorerUrl: url !== null && /^https?:$/.test(new URL(url).protocol) ? url : null,
    freeKeysPerDay: typeof keys === 'number' && keys > 0 ? keys : 0,
  };
}

/** Undefined until it is known; nothing is told where it cannot be asked. */
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
  return isError ? NOTHING : data;
}
