// The theme: light, dark or that of the system. public/theme.js sets it before the first paint; styles use only
// `data-theme`.
import { useSyncExternalStore } from 'react';
import { storedValue } from '../stored-value.ts';

export type Theme = 'system' | 'light' | 'dark';

const stored = storedValue('strata-theme');
const dark = matchMedia('(prefers-color-scheme: dark)');
const print = matchMedia('print');
const listeners = new Set<() => void>();

function chosenTheme(): Theme {
  const theme = stored.get();
  return theme === 'light' || theme === 'dark' ? theme : 'system';
}

/** The displayed theme; print is always light. */
function shownTheme(): 'light' | 'dark' {
  if (print.matches) return 'light';
  const chosen = chosenTheme();
  return chosen === 'system' ? (dark.matches ? 'dark' : 'light') : chosen;
}

function apply(): void {
  document.documentElement.dataset.theme = shownTheme();
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

for (const medium of [dark, print]) medium.addEventListener('change', apply);
stored.subscribe(apply);

// The browser cache may contain an older theme.js.
apply();

export const setTheme = (theme: Theme): void => stored.set(theme);

export function useTheme(): { readonly theme: Theme; readonly shown: 'light' | 'dark' } {
  const theme = useSyncExternalStore(subscribe, chosenTheme);
  const shown = useSyncExternalStore(subscribe, shownTheme);
  return { theme, shown };
}
