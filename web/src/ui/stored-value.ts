// A string in localStorage that React components and other tabs observe.
import { useSyncExternalStore } from 'react';

export interface StoredValue {
  readonly get: () => string | undefined;
  /** Undefined removes it. If storage is disabled, the value lasts until the page is closed. */
  readonly set: (next: string | undefined) => void;
  /** Notifies of changes in all tabs; returns the unsubscribe function. */
  readonly subscribe: (listener: () => void) => () => void;
}

export function storedValue(key: string): StoredValue {
  const listeners = new Set<() => void>();
  let value = read(key);
  const change = (next: string | undefined) => {
    if (next === value) return;
    value = next;
    for (const listener of listeners) listener();
  };
  addEventListener('storage', (event) => {
    if (event.key === null || event.key === key) change(read(key));
  });
  return {
    get: () => value,
    set: (next) => {
      try {
        if (next === undefined) localStorage.removeItem(key);
        else localStorage.setItem(key, next);
      } catch {
        // Storage is disabled.
      }
      change(next);
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function read(key: string): string | undefined {
  try {
    return localStorage.getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

export const useStoredValue = ({ get, subscribe }: StoredValue): string | undefined =>
  useSyncExternalStore(subscribe, get);
