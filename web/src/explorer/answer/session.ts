// The user's API key, stored in the browser, and its remaining quota.
import { type Quota, StackClient, storedLedgerMemory } from '@strata/client';
import { useSyncExternalStore } from 'react';
import { storedValue, useStoredValue } from '../../ui/stored-value.ts';

const storedKey = storedValue('strata-stack-key');
let quota: Quota | null = null;
const listeners = new Set<() => void>();

function changeQuota(next: Quota | null): void {
  quota = next;
  for (const listener of listeners) listener();
}

storedKey.subscribe(() => changeQuota(null));

/** Undefined removes it. */
export const setKey = storedKey.set;
export const useKey = (): string | undefined => useStoredValue(storedKey);

/** The quota in the latest answer; null if it has none. */
export function setQuota(next: Quota | null): void {
  if (next) changeQuota(next);
}

/** Null before the first answer, and for unlimited keys. */
export function useQuota(): Quota | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => quota,
  );
}

/** Uses the current key of the user; remembers the public log in this browser. */
export const stack = new StackClient({
  baseUrl: location.origin,
  key: storedKey.get,
  memory: storedLedgerMemory(() => localStorage, 'strata-stack-ledgers'),
});

/** Creates and stores a free key. */
export async function getFreeKey(): Promise<void> {
  const { key } = await StackClient.createKey(location.origin);
  setKey(key);
}
