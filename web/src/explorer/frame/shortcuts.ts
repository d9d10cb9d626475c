// Keys: `/` goes to the search box, `g` and a letter to a page, `?` shows them all. Whoever speaks to the computer, or
// presses keys by accident, can turn them off (WCAG 2.2, 2.1.4).
import { useNavigate } from '@tanstack/react-router';
import { useLayoutEffect, useSyncExternalStore } from 'react';
import { PAGES } from './navigation.ts';

const PATIENCE_MS = 1_500;
const PLACE = 'strata-shortcuts';

let areOn = storedChoice();
const listeners = new Set<() => void>();

function storedChoice(): boolean {
  try {
    return localStorage.getItem(PLACE) !== 'off';
  } catch {
    return true;
  }
}

export function setShortcuts(next: boolean): void {
  areOn = next;
  try {
    if (next) localStorage.removeItem(PLACE);
    else localStorage.setItem(PLACE, 'off');
  } catch {
    // Kept for this page only.
  }
  for (const listener of listeners) listener();
}

/** Whether the reader wants keys of one letter. */
export function useAreShortcutsOn(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => areOn,
  );
}

/** Listens while the page is open; never in fields and dialogs, and never together with a modifier, which are the browser's. */
export function useShortcuts({ onHelp }: { readonly onHelp: () => void }): void {
  const navigate = useNavigate();
  const isOn = useAreShortcutsOn();
  // Before the page is seen: an effect after painting would miss a key that comes at once.
  useLayoutEffect(() => {
    if (!isOn) return;
    let wantedUntil = 0;
    const onKey = (event: KeyboardEvent) => {
      const { target, key } = event;
      const isTyping =
        target instanceof HTMLElement &&
        (target.isContentEditable || target.closest('input, textarea, select, dialog') !== null);
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      if (key === '/') {
        event.preventDefault();
        document.getElementById('search')?.focus();
        return;
      }
      if (key === '?') return onHelp();
      if (key === 'g') {
        wantedUntil = event.timeStamp + PATIENCE_MS;
        return;
      }
      const way = event.timeStamp < wantedUntil ? PAGES.find(([, , letter]) => letter === key) : undefined;
      wantedUntil = 0;
      if (way) void navigate({ to: way[1] });
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [navigate, isOn, onHelp]);
}
