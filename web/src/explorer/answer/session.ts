// The reader's key and what is left of its day, kept in the browser and shown wherever it matters.
import { type Quota, StackClient, storedLedgerMemory } from '@strata/client';
import { useSyncExternalStore } from 'react';

const PLACE = 'strata-stack-key';

interface Session {
  readonly key: string | undefined;
  readonly quota: Quota | null;
}

let session: Session = { key: storedKey(), quota: null };
const listeners = new Set<() => void>();

function storedKey(): string | undefined {
  try {
    return localStorage.getItem(PLACE) ?? undefined;
  } catch {
    return undefined;
  }
}

function change(next: Session): void {
  session = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

// A key that was got, changed or forgotten in another tab holds in this one too.
window.addEventListener('storage', ({ key: place }) => {
  if ((place === PLACE || place === null) && storedKey() !== session.key) change({ key: storedKey(), quota: null });
});

/** Undefined forgets it. */
export function setKey(key: string | undefined): void {
  try {
    if (key === undefined) localStorage.removeItem(PLACE);
    else localStorage.setItem(PLACE, key);
  } catch {
    // Kept for this page only.
  }
  change({ key, quota: null });
}

/** What the last answer said of the key's day. */
export function setQuota(quota: Quota | null): void {
  if (quota) change({ ...session, quota });
}

/** Changes with the key alone, and not with each answer. */
export function useKey(): string | undefined {
  return useSyncExternalStore(subscribe, () => session.key);
}

/** Null until an answer has told it, and for keys without a limit. */
export function useQuota(): Quota | null {
  return useSyncExternalStore(subscribe, () => session.quota);
}

/** Asks with the key that the reader has at that moment; remembers the public log in this browser. */
export const stack = new StackClient({
  baseUrl: location.origin,
  key: () => session.key,
  memory: storedLedgerMemory(() => localStorage, 'strata-stack-ledgers'),
});

/** A free key, kept at once. */
export async function getFreeKey(): Promise<string> {
  const { key } = await StackClient.createKey(location.origin);
  setKey(key);
  return key;
}
