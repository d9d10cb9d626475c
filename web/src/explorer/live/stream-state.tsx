// The status of the event stream, and a periodic summary for screen readers.
import { useEffect, useRef, useState } from 'react';
import { Badge } from '../../ui/badge.tsx';
import { formatNumber } from '../../ui/formats.ts';
import type { Live, StreamStatus } from './entries.ts';
import { eventText } from './event-text.tsx';

/** Minimum interval between two announcements. */
const ANNOUNCE_MS = 15_000;

export function StreamState({ status, isPaused }: { readonly status: StreamStatus; readonly isPaused: boolean }) {
  return (
    <span className="live-state" role="status">
      <StateBadge status={status} isPaused={isPaused} />
      {status.kind === 'waiting' && <span className="small soft">{status.reason}</span>}
    </span>
  );
}

function StateBadge({ status, isPaused }: { readonly status: StreamStatus; readonly isPaused: boolean }) {
  switch (status.kind) {
    case 'connecting':
      return <Badge>Connecting …</Badge>;
    case 'open':
      return isPaused ? <Badge tone="warn">Paused</Badge> : <Badge tone="good">Live</Badge>;
    case 'waiting':
      return <Badge tone="warn">Reconnecting in {formatNumber(Math.ceil(status.retryInMs / 1_000))} s</Badge>;
    case 'ended':
      return <Badge tone="bad">Ended</Badge>;
    default:
      return status satisfies never;
  }
}

/** Announces the number of events since the last announcement, and the newest event. */
export function Announcement({ live }: { readonly live: Live }) {
  const latest = useRef(live);
  latest.current = live;
  const [text, setText] = useState('');
  useEffect(() => {
    let announced = 0;
    const timer = setInterval(() => {
      const { arrived, entries, isPaused } = latest.current;
      if (arrived < announced) announced = 0;
      const count = arrived - announced;
      if (count === 0 || isPaused) return;
      announced = arrived;
      const newest = entries.find((entry) => entry.kind === 'event');
      const newestText = newest?.kind === 'event' ? eventText(newest.event) : '';
      setText(count === 1 ? `New event: ${newestText}.` : `${formatNumber(count)} new events, latest: ${newestText}.`);
    }, ANNOUNCE_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <p className="hidden-text" aria-live="polite">
      {text}
    </p>
  );
}
