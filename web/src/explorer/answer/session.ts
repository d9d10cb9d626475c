// The user's API key, stored in the browser, and its remaining quota.
import { type Quota, StackClient, StackTables, storedLedgerMemory } from '@strata/client';
import { observable, storedValue, useObservable } from '../../ui/observable.ts';

const storedKey = storedValue('strata-stack-key');
const quota = observable<Quota | null>(null);

storedKey.subscribe(() => quota.set(null));

/** Undefined removes it. */
export const setKey = storedKey.set;
export const useKey = (): string | undefined => useObservable(storedKey);

/** The quota in the latest answer; null if it has none. */
export function setQuota(next: Quota | null): void {
  if (next) quota.set(next);
}

/** Null before the first answer, and for unlimited keys. */
export const useQuota = (): Quota | null => useObservable(quota);

/** Uses the current key of the user; remembers the public log in this browser. */
export const stack = new StackClient({
  baseUrl: location.origin,
  key: storedKey.get,
  memory: storedLedgerMemory(() => localStorage, 'strata-stack-ledgers'),
});

/** Look-ups of lists, as files. */
export const tables = new StackTables({ baseUrl: location.origin, key: storedKey.get });

export async function getFreeKey(): Promise<void> {
  const { key } = await StackClient.createKey(location.origin);
  setKey(key);
}
