// Polls the network report while a page shows it, and keeps the observed fleet.
import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { askNetwork, type InferenceProblem, type Network } from '../inference.ts';
import { type Fleet, NO_FLEET, nextFleet } from './observed-fleet.ts';

const EVERY_MS = 2_000;
let fleet: Fleet | undefined;
const listeners = new Set<() => void>();

/** The network report, polled every two seconds while the page is visible; null: the service has no network. */
export function useNetwork({
  isWatching,
}: {
  readonly isWatching: boolean;
}): UseQueryResult<Network | null, InferenceProblem> {
  return useQuery({
    queryKey: ['network'],
    queryFn: async ({ signal }) => {
      const network = await askNetwork(signal);
      if (network) {
        fleet = nextFleet(fleet, network, Date.now());
        for (const listener of listeners) listener();
      }
      return network;
    },
    enabled: isWatching,
    refetchInterval: ({ state }) => (state.data === null ? false : EVERY_MS),
    placeholderData: keepPreviousData,
    retry: false,
  });
}

export function useFleet(): Fleet {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => fleet ?? NO_FLEET,
  );
}

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

/** Hours, minutes and seconds in the local time zone. */
export const clockTime = (at: number): string => clock.format(new Date(at));
