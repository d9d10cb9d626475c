// The user's API key of the inference service, stored in the browser.
import { useSyncExternalStore } from 'react';

const STORAGE_KEY = 'strata-inference-key';
const listeners = new Set<() => void>();
let key = stored();

function stored(): string | undefined {
  try {
    return localStorage.getItem(STORAGE_KEY) ?? undefined;
  } catch {
    return undefined;
  }
}

export const currentKey = (): string | undefined => key;

const notify = () => {
  for (const listener of listeners) listener();
};

// Another tab has set or removed the key.
addEventListener('storage', (event) => {
  if (event.key !== null && event.key !== STORAGE_KEY) return;
  key = stored();
  notify();
});

/** Undefined removes the key. */
export function setKey(next: string | undefined): void {
  key = next;
  try {
    if (next === undefined) localStorage.removeItem(STORAGE_KEY);
    else localStorage.setItem(STORAGE_KEY, next);
  } catch {
    // Storage is disabled: the key lasts until the page is closed.
  }
  notify();
}

export function useKey(): string | undefined {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, currentKey);
}
