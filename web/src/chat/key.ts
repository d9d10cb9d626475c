// The reader's key of the inference service, kept in the browser.
import { useSyncExternalStore } from 'react';

const PLACE = 'strata-inference-key';
const listeners = new Set<() => void>();
let key = stored();

function stored(): string | undefined {
  try {
    return localStorage.getItem(PLACE) ?? undefined;
  } catch {
    return undefined;
  }
}

export const currentKey = (): string | undefined => key;

const tell = () => {
  for (const listener of listeners) listener();
};

// Another tab has one now, or has forgotten it.
addEventListener('storage', (event) => {
  if (event.key !== null && event.key !== PLACE) return;
  key = stored();
  tell();
});

/** Undefined forgets it. */
export function setKey(next: string | undefined): void {
  key = next;
  try {
    if (next === undefined) localStorage.removeItem(PLACE);
    else localStorage.setItem(PLACE, next);
  } catch {
    // Kept for this page only.
  }
  tell();
}

export function useKey(): string | undefined {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, currentKey);
}
