// How long ago something was, in words that go on with the clock while the page stays open.
import { useSyncExternalStore } from 'react';
import { formatAgo, formatTime } from './formats.ts';

/** Words are of minutes at the finest that anybody waits for. */
const TICK_MS = 30_000;

let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

/** One clock for all words of a page. */
function follow(listener: () => void): () => void {
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

/** Milliseconds since the epoch, renewed twice a minute. */
export function useNow(): number {
  return useSyncExternalStore(follow, () => {
    // Nobody listened meanwhile: the clock stood still.
    if (timer === undefined) now = Date.now();
    return now;
  });
}

interface AgoProps {
  /** ISO 8601. */
  readonly at: string;
  readonly className?: string;
}

/** `3 minutes ago`, with the time itself for who points at it. */
export function Ago({ at, className }: AgoProps) {
  // What happened within the tick is not to come.
  const from = Math.max(useNow(), Math.min(Date.parse(at), Date.now()));
  return (
    <time dateTime={at} title={formatTime(at)} className={className}>
      {formatAgo(at, from)}
    </time>
  );
}
