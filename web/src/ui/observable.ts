// Values outside React that components observe: module state, browser storage and media queries.
import { useSyncExternalStore } from 'react';

export interface Observable<V> {
  readonly get: () => V;
  readonly set: (next: V) => void;
  /** Returns the unsubscribe function. */
  readonly subscribe: (listener: () => void) => () => void;
}

export function observable<V>(value: V): Observable<V> {
  let current = value;
  const listeners = new Set<() => void>();
  return {
    get: () => current,
    set: (next) => {
      if (Object.is(next, current)) return;
      current = next;
      for (const listener of listeners) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export const useObservable = <V>({ get, subscribe }: Pick<Observable<V>, 'get' | 'subscribe'>): V =>
  useSyncExternalStore(subscribe, get);

/** A string in localStorage, observed in all tabs. If storage is disabled, it lasts until the page is closed. */
export function storedValue(key: string): Observable<string | undefined> {
  const value = observable(read(key));
  addEventListener('storage', (event) => {
    if (event.key === null || event.key === key) value.set(read(key));
  });
  return {
    ...value,
    set: (next) => {
      try {
        if (next === undefined) localStorage.removeItem(key);
        else localStorage.setItem(key, next);
      } catch {
        // Storage is disabled.
      }
      value.set(next);
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

export function observedMedia(query: string): Observable<boolean> {
  const media = matchMedia(query);
  const value = observable(media.matches);
  media.addEventListener('change', ({ matches }) => value.set(matches));
  return value;
}

export const printing = observedMedia('print');
