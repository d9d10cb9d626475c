// The query cache. Queries are repeated only after network errors or on request of the user.
import { QueryClient } from '@tanstack/react-query';
import { onReconnect } from './connection.ts';

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // Offline, a query fails with a message; by default the library would pause it and show the loading state.
      networkMode: 'always',
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      gcTime: 10 * 60_000,
    },
  },
});

// Only queries of the open page: each uses a request of the quota.
onReconnect(
  () => void queries.refetchQueries({ type: 'active', predicate: ({ state }) => isNetworkError(state.error) }),
);

/** Whether the request did not reach the service. */
export function isNetworkError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'network';
}
