// The theme: light, dark or that of the system. public/theme.js sets it before the first paint; styles use only
// `data-theme`.
import { observable, observedMedia, printing, storedValue, useObservable } from '../observable.ts';

export type Theme = 'system' | 'light' | 'dark';

const stored = storedValue('strata-theme');
const dark = observedMedia('(prefers-color-scheme: dark)');
const shown = observable<'light' | 'dark'>('light');

function chosenTheme(): Theme {
  const theme = stored.get();
  return theme === 'light' || theme === 'dark' ? theme : 'system';
}

/** Sets the displayed theme; print is always light. */
function apply(): void {
  const chosen = printing.get() ? 'light' : chosenTheme();
  const theme = chosen === 'system' ? (dark.get() ? 'dark' : 'light') : chosen;
  document.documentElement.dataset.theme = theme;
  shown.set(theme);
}

for (const { subscribe } of [stored, dark, printing]) subscribe(apply);

// The browser cache may contain an older theme.js.
apply();

export const setTheme = (theme: Theme): void => stored.set(theme);
export const useChosenTheme = (): Theme => useObservable({ get: chosenTheme, subscribe: stored.subscribe });
export const useShownTheme = (): 'light' | 'dark' => useObservable(shown);
