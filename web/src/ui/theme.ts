// Light or dark: the system's choice, or the reader's own, kept in the browser.
import { useSyncExternalStore } from 'react';

export type Theme = 'system' | 'light' | 'dark';

const PLACE = 'strata-theme';
const dark = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();

function chosen(): Theme {
  const { theme } = document.documentElement.dataset;
  return theme === 'light' || theme === 'dark' ? theme : 'system';
}

/** What is to be seen now. */
function shownTheme(): 'light' | 'dark' {
  const theme = chosen();
  return theme === 'system' ? (dark.matches ? 'dark' : 'light') : theme;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  dark.addEventListener('change', listener);
  return () => {
    listeners.delete(listener);
    dark.removeEventListener('change', listener);
  };
}

export function setTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem(PLACE, theme);
  } catch {
    // Kept for this page only.
  }
  for (const listener of listeners) listener();
}

export function useTheme(): { readonly theme: Theme; readonly shown: 'light' | 'dark' } {
  const theme = useSyncExternalStore(subscribe, chosen);
  const shown = useSyncExternalStore(subscribe, shownTheme);
  return { theme, shown };
}
