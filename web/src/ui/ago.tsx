// Relative times that are updated while the page is open.
import { useSyncExternalStore } from 'react';
import { formatAgo, formatTime } from './formats.ts';

/** Times are shown in minutes at the finest. */
const TICK_MS = 30_000;

let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

/** All relative times share one timer. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const each of listeners) each();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Milliseconds since the epoch, updated twice a minute. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => {
    // Without subscribers the timer is stopped, so the time is outdated.
    if (timer === undefined) now = Date.now();
    return now;
  });
}

interface AgoProps {
  /** ISO 8601. */
  readonly at: string;
  readonly className?: string;
}

/** `3 minutes ago`, with the absolute time as a tooltip. */
export function Ago({ at, className }: AgoProps) {
  // A time after the last tick must not appear to be in the future.
  const from = Math.max(useNow(), Math.min(Date.parse(at), Date.now()));
  return (
    <time dateTime={at} title={formatTime(at)} className={className}>
      {formatAgo(at, from)}
    </time>
  );
}
