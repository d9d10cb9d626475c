// Relative times that are updated while the page is open.
import { useEffect, useState } from 'react';
import { formatAgo, formatDay, formatTime } from './formats.ts';

/** Milliseconds since the epoch, updated at this interval. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

interface AgoProps {
  /** ISO 8601. */
  readonly at: string;
  readonly className?: string;
}

/** `3 minutes ago`, with the absolute time as a tooltip. */
export function Ago({ at, className }: AgoProps) {
  // A time after the last tick must not appear to be in the future.
  const from = Math.max(useNow(30_000), Math.min(Date.parse(at), Date.now()));
  return (
    <time dateTime={at} title={formatTime(at)} className={className}>
      {formatAgo(at, from)}
    </time>
  );
}

/** The UTC day of an ISO 8601 time. */
export function Day({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} className="nowrap">
      {formatDay(at)}
    </time>
  );
}
