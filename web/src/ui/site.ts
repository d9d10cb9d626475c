// The public description of an installation, available without an API key: `/site.json` of either service.
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { safeAddress } from './safe-address.ts';

/** The description as read by `siteOf`, which receives null without one. */
export function useSiteQuery<Site>(siteOf: (body: unknown) => Site): UseQueryResult<Site> {
  return useQuery({
    queryKey: ['site'],
    queryFn: async ({ signal }) => {
      const response = await fetch('/site.json', { signal }).catch((cause) => {
        throw Object.assign(new Error('ask for site.json', { cause }), { code: 'network' });
      });
      return siteOf(response.ok ? await response.json() : null);
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}

/** The fields of an object; none for other values. */
export const fieldsOf = (body: unknown): Readonly<Record<string, unknown>> => Object(body);

/** A URL that becomes a link; undefined for other values. */
export const linkOf = (value: unknown): string | undefined =>
  (typeof value === 'string' && safeAddress(value)) || undefined;
