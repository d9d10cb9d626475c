// Polls the network report while a page shows it, and keeps the observed fleet.
import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { observable, useObservable } from '../../ui/observable.ts';
import { client, InferenceProblem, type Network } from '../inference.ts';
import { type Fleet, NO_FLEET, nextFleet } from './observed-fleet.ts';

const EVERY_MS = 2_000;
const fleet = observable<Fleet | undefined>(undefined);

export const useFleet = (): Fleet => useObservable(fleet) ?? NO_FLEET;

interface NetworkOptions {
  readonly isWatching: boolean;
}

/** The network report, polled every two seconds while the page is visible; null: the service has no network. */
export function useNetwork({ isWatching }: NetworkOptions): UseQueryResult<Network | null, InferenceProblem> {
  return useQuery({
    queryKey: ['network'],
    queryFn: async ({ signal }) => {
      const network = await askNetwork(signal);
      if (network) fleet.set(nextFleet(fleet.get(), network, Date.now()));
      return network;
    },
    enabled: isWatching,
    refetchInterval: ({ state }) => (state.data === null ? false : EVERY_MS),
    placeholderData: keepPreviousData,
    retry: false,
  });
}

async function askNetwork(signal: AbortSignal): Promise<Network | null> {
  return client.network({ signal }).catch((error: unknown) => {
    // The service uses its own engine.
    if (error instanceof InferenceProblem && error.status === 404) return null;
    throw error;
  });
}
