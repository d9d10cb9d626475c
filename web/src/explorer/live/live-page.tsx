// The live page: the event stream, starting with the events of the last hour.
import './live.css';
import { StackProblem } from '@strata/client';
import { useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { Badge } from '../../ui/badge.tsx';
import { Card } from '../../ui/card/card.tsx';
import { Button, Command } from '../../ui/controls/button.tsx';
import { formatNumber, formatTime } from '../../ui/formats.ts';
import { Empty, Loading, Notice } from '../../ui/states.tsx';
import { Problem } from '../answer/answer.tsx';
import { stack } from '../answer/session.ts';
import { Source } from '../answer/source.tsx';
import { Page } from '../frame/page.tsx';
import type { Search } from '../links/search-params.ts';
import { type Live as LiveState, MAX_ENTRIES, type Past, type StreamStatus } from './entries.ts';
import { FilterForm, filterOf, queryOf } from './event-filter.tsx';
import { EventList, eventText } from './event-list.tsx';
import { useEvents } from './use-events.ts';

/** Minimum interval between two announcements. */
const ANNOUNCE_MS = 15_000;

export function Live() {
  const search: Search = useSearch({ from: '/live' });
  const filter = filterOf(search);
  const { live, act, retry } = useEvents(filter);
  const { past, status, isPaused, heldEvents } = live;
  return (
    <Page title="Live" lead="Migrations, service changes, anomalies and advisories in real time.">
      <Card title="Filter">
        <FilterForm search={search} />
        <p className="small soft note">
          Opening this page or changing the filter uses two requests, or a few more after a busy hour; reconnecting uses
          one. Events themselves use no requests.
        </p>
      </Card>
      <Card
        title="Events"
        actions={
          <>
            <span className="row" role="status">
              <StateBadge status={status} isPaused={isPaused} />
              {status.kind === 'waiting' && <span className="small soft">{status.reason}</span>}
            </span>
            {past && (
              <Button kind="small" onClick={() => act({ kind: isPaused ? 'resume' : 'pause' })}>
                {isPaused ? `Resume · ${formatNumber(heldEvents)} new` : 'Pause'}
              </Button>
            )}
          </>
        }
        foot={
          past && (
            <>
              <Source answer={past} />
              <details className="source">
                <summary>Event stream</summary>
                <p className="small soft">Subscribe to new events (Server-Sent Events):</p>
                <Command text={stack.curl('/stack/v1/stream', { query: queryOf(filter) })} />
              </details>
            </>
          )
        }
      >
        {status.kind === 'ended' && <Ended problem={status.problem} onRetry={retry} />}
        {past && <Events live={live} past={past} />}
        {!past && status.kind !== 'ended' && <Loading />}
      </Card>
    </Page>
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

function Ended({ problem, onRetry }: { readonly problem: Error; readonly onRetry: () => void }) {
  if (problem instanceof StackProblem) return <Problem problem={problem} onRetry={onRetry} />;
  return (
    <Notice title="The stream has ended" tone="bad" actions={<Button onClick={onRetry}>Reconnect</Button>}>
      <p>{problem.message}</p>
    </Notice>
  );
}

function Events({ live, past }: { readonly live: LiveState; readonly past: Past }) {
  const { arrived, entries } = live;
  return (
    <>
      <p className="small soft">
        {formatNumber(arrived)} new since {formatTime(past.body.provenance.signed_at)}, followed by the events of the
        preceding hour. The list keeps the newest {formatNumber(MAX_ENTRIES)} events.
      </p>
      <Announcement live={live} />
      {entries.length === 0 ? (
        <Empty>No events in the last hour. New events appear here automatically.</Empty>
      ) : (
        <EventList entries={entries} />
      )}
    </>
  );
}

/** Announces the number of events since the last announcement, and the newest event. */
function Announcement({ live }: { readonly live: LiveState }) {
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
      const newestText = newest ? eventText(newest.event) : '';
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
