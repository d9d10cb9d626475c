// What the line to the service is doing, and a summary now and then for those who listen to the page.
import { useEffect, useRef, useState } from 'react';
import { Badge } from '../../ui/badge.tsx';
import { formatNumber } from '../../ui/formats.ts';
import type { Line, Live } from './entries.ts';
import { eventText } from './event-text.tsx';

/** No more often than this is anybody told of events. */
const ANNOUNCE_MS = 15_000;

export function LineState({ line, isPaused }: { readonly line: Line; readonly isPaused: boolean }) {
  return (
    <span className="live-state" role="status">
      <StateBadge line={line} isPaused={isPaused} />
      {line.kind === 'waiting' && <span className="small soft">{line.reason}</span>}
    </span>
  );
}

function StateBadge({ line, isPaused }: { readonly line: Line; readonly isPaused: boolean }) {
  switch (line.kind) {
    case 'connecting':
      return <Badge>Connecting …</Badge>;
    case 'open':
      return isPaused ? <Badge tone="warn">Paused</Badge> : <Badge tone="good">Live</Badge>;
    case 'waiting':
      return <Badge tone="warn">Reconnecting in {formatNumber(Math.ceil(line.retryInMs / 1_000))} s</Badge>;
    case 'ended':
      return <Badge tone="bad">Ended</Badge>;
    default:
      return line satisfies never;
  }
}

/** Polite, and never each event: how many came since the last time, and the newest of them. */
export function Announcement({ live }: { readonly live: Live }) {
  const latest = useRef(live);
  latest.current = live;
  const [text, setText] = useState('');
  useEffect(() => {
    let told = 0;
    const timer = setInterval(() => {
      const { arrived, entries, isPaused } = latest.current;
      if (arrived < told) told = 0;
      const count = arrived - told;
      if (count === 0 || isPaused) return;
      told = arrived;
      const newest = entries.find((entry) => entry.kind === 'event');
      const said = newest?.kind === 'event' ? eventText(newest.event) : '';
      setText(count === 1 ? `A new event: ${said}.` : `${formatNumber(count)} new events, the last: ${said}.`);
    }, ANNOUNCE_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <p className="hidden-text" aria-live="polite">
      {text}
    </p>
  );
}
