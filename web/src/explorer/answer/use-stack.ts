// A request to the service as a React query: cached for a while, repeated when the API key changes.
import { type StackAnswer, type StackInput, type StackPath, type StackPaths, StackProblem } from '@strata/client';
import { queryOptions, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { currentConnection, reportAnswered, reportUnreachable } from './connection.ts';
import { isNetworkError } from './queries.ts';
import { setQuota, stack, useKey } from './session.ts';

export interface RequestOptions {
  /** Polling interval while the page is open. */
  readonly pollMs?: number;
  /**
   * Shows the previous answer, marked as stale, until the next one arrives: only for another page of the same list
   * (`page`), or also for other filters (`any`).
   */
  readonly keepsLast?: 'page' | 'any';
}

export type Query<B> = UseQueryResult<StackAnswer<B>, StackProblem>;

/** The answer of the service. Each request uses the quota, except those repeated within a minute. */
export function useStack<P extends StackPath>(
  path: P,
  input: StackInput<P>,
  options?: RequestOptions,
): Query<StackPaths[P]['body']> {
  return useQuery(stackQuery(path, input, { key: useKey(), ...options }));
}

export function stackQuery<P extends StackPath>(
  path: P,
  input: StackInput<P>,
  { key, pollMs, keepsLast }: RequestOptions & { readonly key: string | undefined },
) {
  return queryOptions<StackAnswer<StackPaths[P]['body']>, StackProblem>({
    queryKey: [path, input, key],
    queryFn: async ({ signal }) => {
      try {
        const answer = await stack.get(path, input, { signal });
        reportAnswered();
        setQuota(answer.quota);
        return answer;
      } catch (error) {
        if (!signal.aborted && isNetworkError(error)) reportUnreachable();
        else if (error instanceof StackProblem) reportAnswered();
        if (error instanceof StackProblem) setQuota(error.quota);
        throw error;
      }
    },
    staleTime: 60_000,
    // Answers are not merged with previous ones: the receipt covers the answer as received.
    structuralSharing: false,
    // Only network errors are retried immediately: neither refusals nor being offline.
    retry: (failures, error) => failures < 2 && isNetworkError(error) && currentConnection() !== 'offline',
    ...(pollMs === undefined ? {} : { refetchInterval: pollMs }),
    placeholderData: (last, before) =>
      keepsLast && subjectOf(keepsLast, before?.queryKey) === subjectOf(keepsLast, [path, input]) ? last : undefined,
  });
}

/** The subject of a request: an answer about another domain or provider is never shown as a stale answer. */
function subjectOf(keepsLast: 'page' | 'any', [path, input]: readonly unknown[] = []): string {
  const { path: names, query } = (input ?? {}) as { readonly path?: unknown; readonly query?: object };
  return JSON.stringify([
    path,
    names,
    keepsLast === 'page' ? { ...query, offset: undefined, cursor: undefined } : undefined,
  ]);
}
