// A request to the service as a React query: cached for a while, repeated when the API key changes.
import { type StackAnswer, type StackInput, type StackPaths, StackProblem } from '@strata/client';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { currentConnection, reportAnswered, reportUnreachable } from './connection.ts';
import { isNetworkError } from './queries.ts';
import { setQuota, stack, useKey } from './session.ts';

interface Options {
  /** False while the input is incomplete. */
  readonly isEnabled?: boolean;
  /** Polling interval while the page is open. */
  readonly pollMs?: number;
  /**
   * Shows the previous answer, marked as stale, until the next one arrives: only for another page of the same list
   * (`page`), or also for other filters (`any`).
   */
  readonly keepsLast?: 'page' | 'any';
}

const requests = new WeakMap<object, unknown>();

/** The request of an answer. It differs from that of the page while a stale answer is shown. */
export function requestOf<I>(answer: object, input: I): I {
  return (requests.get(answer) as I | undefined) ?? input;
}

/** The answer of the service. Each request uses the quota, except those repeated within a minute. */
export function useStack<P extends keyof StackPaths>(
  path: P,
  input: StackInput<P>,
  { isEnabled = true, pollMs, keepsLast }: Options = {},
): UseQueryResult<StackAnswer<StackPaths[P]['body']>, StackProblem> {
  const key = useKey();
  return useQuery({
    queryKey: [path, input, key],
    queryFn: async ({ signal }) => {
      try {
        const answer = await stack.get(path, input, { signal });
        reportAnswered();
        setQuota(answer.quota);
        requests.set(answer, input);
        return answer;
      } catch (error) {
        if (!signal.aborted && isNetworkError(error)) reportUnreachable();
        else if (error instanceof StackProblem) reportAnswered();
        if (error instanceof StackProblem) setQuota(error.quota);
        throw error;
      }
    },
    enabled: isEnabled,
    staleTime: 60_000,
    // Answers are not merged with previous ones: the receipt covers the answer as received.
    structuralSharing: false,
    // Only network errors are retried immediately: neither refusals nor being offline.
    retry: (failures, error) => failures < 2 && isNetworkError(error) && currentConnection() !== 'offline',
    ...(pollMs === undefined ? {} : { refetchInterval: pollMs }),
    placeholderData: (last: StackAnswer<StackPaths[P]['body']> | undefined, before) =>
      keepsLast && subjectOf(keepsLast, before?.queryKey) === subjectOf(keepsLast, [path, input]) ? last : undefined,
  });
}

/** The subject of a request: an answer about another domain or provider is never shown as a stale answer. */
function subjectOf(keepsLast: 'page' | 'any', [path, input]: readonly unknown[] = []): string {
  const { path: names, query } = (input ?? {}) as { readonly path?: unknown; readonly query?: object };
  return JSON.stringify([path, names, keepsLast === 'page' ? { ...query, offset: undefined } : undefined]);
}
