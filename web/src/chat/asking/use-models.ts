// The models available to the user's API key.
import { useQuery } from '@tanstack/react-query';
import { client, type InferenceProblem, type Model, useKey } from '../inference.ts';
import type { ModelsState } from './send-action.ts';

/** Polling interval after an error or an empty list, and otherwise. */
const RETRY_MS = 3_000;
const EVERY_MS = 15_000;

export function useModels() {
  const key = useKey();
  return useQuery<readonly Model[], InferenceProblem>({
    queryKey: ['models', key],
    queryFn: ({ signal }) => client.models({ signal }),
    enabled: key !== undefined,
    refetchInterval: ({ state: { data, error } }) => {
      if (error) return error.status === 401 ? false : RETRY_MS;
      return data?.length === 0 ? RETRY_MS : EVERY_MS;
    },
    retry: false,
  });
}

/** The last list stays valid while it cannot be refreshed. */
export function modelsState({ data, error }: Pick<ReturnType<typeof useModels>, 'data' | 'error'>): ModelsState {
  if (error?.status === 401) return 'refused';
  if (data) return data.length > 0 ? 'known' : 'none';
  return error ? 'failed' : 'loading';
}
