// One question to the service: asked once, kept for a while, asked anew when the key changes.
import { type StackAnswer, type StackInput, type StackPaths, StackProblem } from '@strata/client';
import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { setQuota, stack, useSession } from './session.ts';

interface Options {
  /** False while it is not yet known what to ask. */
  readonly isEnabled?: boolean;
  /** Asks again while the page is open. */
  readonly everyMs?: number;
  /** Shows the answer before until the next one is there: for lists that are paged or filtered. */
  readonly keepsLast?: boolean;
}

/** What the service answers. Each costs a request of the key's day, but for what was asked in the last minute. */
export function useStack<P extends keyof StackPaths>(
  path: P,
  input: StackInput<P>,
  { isEnabled = true, everyMs, keepsLast = false }: Options = {},
): UseQueryResult<StackAnswer<StackPaths[P]['body']>, StackProblem> {
  const { key } = useSession();
  return useQuery({
    queryKey: [path, input, key],
    queryFn: async ({ signal }) => {
      try {
        const answer = await stack.get(path, input, { signal });
        setQuota(answer.quota);
        return answer;
      } catch (error) {
        if (error instanceof StackProblem) setQuota(error.quota);
        throw error;
      }
    },
    enabled: isEnabled,
    staleTime: 60_000,
    // Only what may be different at once is tried again: a refusal stays one.
    retry: (failures, error) => failures < 2 && error.code === 'network',
    ...(everyMs === undefined ? {} : { refetchInterval: everyMs }),
    ...(keepsLast ? { placeholderData: keepPreviousData } : {}),
  });
}
