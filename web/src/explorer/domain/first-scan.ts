// Waits until an unknown domain becomes known. Polls the suggestions, which do not count against the quota.
import { useEffect, useRef, useState } from 'react';
import { fetchSuggestions } from '../search/suggestions.ts';

const POLL_MS = 2_000;
/** A first scan takes seconds. A name still unknown after this time may not exist. */
const MAX_WAIT_MS = 30_000;

/** Hosts that were already retried automatically; further retries are left to the user. */
const awaited = new Set<string>();

/** Whether it is still waiting. Calls `onKnown` at most once per host while the pages are open. */
export function useFirstScan(host: string, onKnown: () => unknown): boolean {
  const [isWaiting, setWaiting] = useState(!awaited.has(host));
  const known = useRef(onKnown);
  known.current = onKnown;
  useEffect(() => {
    if (awaited.has(host)) return;
    const stop = new AbortController();
    const until = Date.now() + MAX_WAIT_MS;
    let timer: ReturnType<typeof setTimeout>;
    const poll = async () => {
      const isKnown = await isSuggested(host, stop.signal);
      if (stop.signal.aborted) return;
      if (!isKnown && Date.now() < until) {
        timer = setTimeout(() => void poll(), POLL_MS);
        return;
      }
      awaited.add(host);
      setWaiting(false);
      if (isKnown) known.current();
    };
    timer = setTimeout(() => void poll(), POLL_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [host]);
  return isWaiting;
}

/** Suggestions contain registrable domains: `example.co.uk` for `www.example.co.uk`. */
async function isSuggested(host: string, signal: AbortSignal): Promise<boolean> {
  const labels = host.toLowerCase().split('.');
  const names = labels.slice(0, -1).map((_, i) => labels.slice(i).join('.'));
  const found = await Promise.all(
    names.slice(-4).map(async (name) => (await fetchSuggestions(name, signal)).domains.includes(name)),
  );
  return found.includes(true);
}
