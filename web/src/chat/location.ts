// The current URL: the path selects one of two views, `?chat=` the open conversation.
import type { MouseEvent } from 'react';
import { observable, useObservable } from '../ui/observable.ts';

const current = () => location.pathname + location.search;
const shown = observable(current());
addEventListener('popstate', () => shown.set(current()));

/** Path and query of the page. */
export function useLocation(): { readonly path: string; readonly chat: string | null } {
  const { pathname, searchParams } = new URL(useObservable(shown), location.origin);
  return { path: pathname, chat: searchParams.get('chat') };
}

/** Navigates without reloading the page. */
export function go(to: string, { isReplacing = false } = {}): void {
  if (isReplacing) history.replaceState(null, '', to);
  else history.pushState(null, '', to);
  shown.set(current());
}

/** For links within the app: handles plain clicks and leaves modified clicks to the browser. */
export function onLink(event: MouseEvent<HTMLAnchorElement>): void {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go(event.currentTarget.pathname + event.currentTarget.search);
}
