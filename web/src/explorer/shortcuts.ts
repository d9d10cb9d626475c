// Keys: `/` goes to the search box, `g` and a letter to a page.
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { WAYS } from './shell.tsx';

const PATIENCE_MS = 1_500;

/** Listens while the page is open; never in fields, and never together with a modifier, which are the browser's. */
export function useShortcuts(): void {
  const navigate = useNavigate();
  useEffect(() => {
    let wantedUntil = 0;
    const onKey = (event: KeyboardEvent) => {
      const { target } = event;
      const isTyping =
        target instanceof HTMLElement &&
        (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === '/') {
        event.preventDefault();
        document.getElementById('search')?.focus();
        return;
      }
      if (event.key === 'g') {
        wantedUntil = event.timeStamp + PATIENCE_MS;
        return;
      }
      const way = event.timeStamp < wantedUntil ? WAYS.find(([, , letter]) => letter === event.key) : undefined;
      wantedUntil = 0;
      if (way) void navigate({ to: way[1] });
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [navigate]);
}
