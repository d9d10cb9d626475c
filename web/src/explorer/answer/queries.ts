// What was asked, and what is asked again: only what did not reach the service, and what the reader wants anew.
import { QueryClient } from '@tanstack/react-query';
import { onReached } from './connection.ts';

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // Without a connection a question fails and says so; the library would hold it back, and its place stay grey.
      networkMode: 'always',
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      gcTime: 10 * 60_000,
    },
  },
});

// What is open, and nothing that was left: each question costs a request of the day.
onReached(() => void queries.refetchQueries({ type: 'active', predicate: ({ state }) => isUnreached(state.error) }));

/** A failure of the way there, and no answer of the service. */
export function isUnreached(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'network';
}
