// The domain that this installation shows to newcomers; known without a key.
import { useQuery } from '@tanstack/react-query';

/** Undefined until it is known, and where it cannot be had. */
export function useExampleDomain(): string | undefined {
  const { data } = useQuery({
    queryKey: ['site'],
    queryFn: async ({ signal }) => {
      const response = await fetch('/site.json', { signal });
      if (!response.ok) throw new Error(`site.json: ${response.status}`);
      return ((await response.json()) as { readonly example_domain: string }).example_domain;
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return data;
}
