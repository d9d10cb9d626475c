// Waits until a domain is known that was not: by the suggestions, which cost no request of the key's day.
import { useEffect, useRef, useState } from 'react';
import { suggestedFor } from '../search/suggestions.ts';

const EVERY_MS = 2_000;
/** A first look takes seconds. What is not known then may never be: the name may not exist. */
const LONGEST_MS = 30_000;

/** Hosts that were asked for again by themselves: a second time it is for the reader to ask. */
const awaited = new Set<string>();

/** Whether it still waits. Calls `onKnown` at most once for a host while the pages are open. */
export function useFirstScan(host: string, onKnown: () => unknown): boolean {
  const [isWaiting, setWaiting] = useState(!awaited.has(host));
  const known = useRef(onKnown);
  known.current = onKnown;
  useEffect(() => {
    if (awaited.has(host)) return;
    const stop = new AbortController();
    const until = Date.now() + LONGEST_MS;
    let timer: ReturnType<typeof setTimeout>;
    const look = async () => {
      const isKnown = await isSuggested(host, stop.signal);
      if (stop.signal.aborted) return;
      if (!isKnown && Date.now() < until) {
        timer = setTimeout(() => void look(), EVERY_MS);
        return;
      }
      awaited.add(host);
      setWaiting(false);
      if (isKnown) known.current();
    };
    timer = setTimeout(() => void look(), EVERY_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [host]);
  return isWaiting;
}

/** The service knows the registered domain of a host: `example.co.uk` for `www.example.co.uk`. */
async function isSuggested(host: string, signal: AbortSignal): Promise<boolean> {
  const labels = host.toLowerCase().split('.');
  const names = labels.slice(0, -1).map((_, i) => labels.slice(i).join('.'));
  const found = await Promise.all(
    names.slice(-4).map(async (name) => (await suggestedFor(name, signal)).domains.includes(name)),
  );
  return found.includes(true);
}
