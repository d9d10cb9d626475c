// Where the reader is: two views by path, and the open conversation as `?chat=`.
import { type MouseEvent, useSyncExternalStore } from 'react';

const listeners = new Set<() => void>();
const tell = () => {
  for (const listener of listeners) listener();
};
addEventListener('popstate', tell);

/** Path and query of the page. */
export function useLocation(): { readonly path: string; readonly chat: string | null } {
  const href = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => location.pathname + location.search,
  );
  const { pathname, searchParams } = new URL(href, location.origin);
  return { path: pathname, chat: searchParams.get('chat') };
}

/** Goes there without loading the page anew. */
export function go(to: string, { isReplacing = false } = {}): void {
  if (isReplacing) history.replaceState(null, '', to);
  else history.pushState(null, '', to);
  tell();
}

/** For links within the page: a plain click stays in it, all others are the browser's. */
export function onLink(event: MouseEvent<HTMLAnchorElement>): void {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go(event.currentTarget.pathname + event.currentTarget.search);
}
