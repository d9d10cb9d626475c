// Keyboard shortcuts: `/` focuses the search box, `g` and a letter open a page, `?` shows all shortcuts. They can be
// disabled for users of speech input (WCAG 2.2, 2.1.4).
import { useNavigate } from '@tanstack/react-router';
import { useLayoutEffect } from 'react';
import { storedValue, useObservable } from '../../ui/observable.ts';
import { PAGES } from './navigation.ts';

/** How long `g` waits for the letter. */
const SEQUENCE_MS = 1_500;
/** `off`, or absent while shortcuts are enabled. */
const stored = storedValue('strata-shortcuts');

export const setShortcuts = (isEnabled: boolean): void => stored.set(isEnabled ? undefined : 'off');
export const useAreShortcutsOn = (): boolean => useObservable(stored) !== 'off';

/** Listens while the page is open, except in fields and dialogs and with modifier keys. */
export function useShortcuts({ onHelp }: { readonly onHelp: () => void }): void {
  const navigate = useNavigate();
  const isOn = useAreShortcutsOn();
  // A layout effect, since an effect after painting could miss an immediate key press.
  useLayoutEffect(() => {
    if (!isOn) return;
    let sequenceUntil = 0;
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
        sequenceUntil = event.timeStamp + SEQUENCE_MS;
        return;
      }
      const page = event.timeStamp < sequenceUntil ? PAGES.find(([, , letter]) => letter === key) : undefined;
      sequenceUntil = 0;
      if (page) void navigate({ to: page[1] });
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [navigate, isOn, onHelp]);
}
