// Light or dark: the system's choice, or the reader's own, kept in the browser. public/theme.js has set it before the
// first paint; the styles know only what is shown.
import { useSyncExternalStore } from 'react';

export type Theme = 'system' | 'light' | 'dark';

const PLACE = 'strata-theme';
const dark = matchMedia('(prefers-color-scheme: dark)');
const print = matchMedia('print');
const listeners = new Set<() => void>();
let chosen = storedTheme();

function storedTheme(): Theme {
  try {
    const theme = localStorage.getItem(PLACE);
    return theme === 'light' || theme === 'dark' ? theme : 'system';
  } catch {
    return 'system';
  }
}

/** What is to be seen now; paper is light. */
function shownTheme(): 'light' | 'dark' {
  if (print.matches) return 'light';
  return chosen === 'system' ? (dark.matches ? 'dark' : 'light') : chosen;
}

function show(): void {
  document.documentElement.dataset.theme = shownTheme();
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

for (const medium of [dark, print]) medium.addEventListener('change', show);
// Chosen in another tab.
window.addEventListener('storage', ({ key }) => {
  if (key !== PLACE && key !== null) return;
  chosen = storedTheme();
  show();
});

// An older theme.js may still be in the browser's cache.
show();

export function setTheme(theme: Theme): void {
  chosen = theme;
  try {
    localStorage.setItem(PLACE, theme);
  } catch {
    // Kept for this page only.
  }
  show();
}

export function useTheme(): { readonly theme: Theme; readonly shown: 'light' | 'dark' } {
  const theme = useSyncExternalStore(subscribe, () => chosen);
  const shown = useSyncExternalStore(subscribe, shownTheme);
  return { theme, shown };
}
