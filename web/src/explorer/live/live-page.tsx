// The live page: the event stream, starting with the events of the last hour.
import './live.css';
import { type EventFilter, StackProblem } from '@strata/client';
import { useSearch } from '@tanstack/react-router';
import { Card } from '../../ui/card/card.tsx';
import { Command } from '../../ui/command.tsx';
import { formatNumber, formatTime } from '../../ui/formats.ts';
import { Empty, Loading, Notice } from '../../ui/states.tsx';
import { Problem } from '../answer/answer.tsx';
import { stack } from '../answer/session.ts';
import { Source } from '../answer/source.tsx';
import { Page } from '../frame/page.tsx';
import { type Live as LiveState, MAX_ENTRIES, type Past } from './entries.ts';
import { filterOf, queryOf } from './event-filter.ts';
import { EventList } from './event-list.tsx';
import { FilterForm } from './filter-form.tsx';
import { Announcement, StreamState } from './stream-state.tsx';
import { PAST_PATH, pastInput, useEvents } from './use-events.ts';

export function Live() {
  const search: Readonly<Record<string, string>> = useSearch({ from: '/live' });
  const filter = filterOf(search);
  const { live, act, retry } = useEvents(filter);
  const { past, status, isPaused } = live;
  return (
    <Page title="Live" lead="Migrations, service changes, anomalies and advisories in real time.">
      <Card title="Filter">
        <FilterForm search={search} />
        <p className="small soft live-cost">
          Opening this page or changing the filter uses two requests, or a few more after a busy hour; reconnecting uses
          one. Events themselves use no requests.
        </p>
      </Card>
      <Card
        title="Events"
        actions={
          <>
            <StreamState status={status} isPaused={isPaused} />
            {past && <PauseButton live={live} onPress={() => act({ kind: isPaused ? 'resume' : 'pause' })} />}
          </>
        }
        foot={past && <LiveSource filter={filter} past={past} />}
      >
        {status.kind === 'ended' && <Ended problem={status.problem} onRetry={retry} />}
        {past && <Events live={live} past={past} />}
        {!past && status.kind !== 'ended' && <Loading lines={8} />}
      </Card>
    </Page>
  );
}

function Events({ live, past }: { readonly live: LiveState; readonly past: Past }) {
  const { arrived, entries } = live;
  return (
    <>
      <p className="small soft live-count">
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

function PauseButton({ live, onPress }: { readonly live: LiveState; readonly onPress: () => void }) {
  const { isPaused, heldEvents } = live;
  return (
    <button className="button small live-pause" type="button" onClick={onPress}>
      {isPaused ? `Resume · ${formatNumber(heldEvents)} new` : 'Pause'}
    </button>
  );
}

function Ended({ problem, onRetry }: { readonly problem: Error; readonly onRetry: () => void }) {
  if (problem instanceof StackProblem) return <Problem problem={problem} onRetry={onRetry} />;
  return (
    <Notice
      title="The stream has ended"
      tone="bad"
      actions={
        <button className="button" type="button" onClick={onRetry}>
          Reconnect
        </button>
      }
    >
      <p>{problem.message}</p>
    </Notice>
  );
}

function LiveSource({ filter, past }: { readonly filter: EventFilter; readonly past: Past }) {
  return (
    <>
      <Source path={PAST_PATH} input={pastInput(filter)} answer={past} />
      <details className="source">
        <summary>Event stream</summary>
        <p className="small soft">Subscribe to new events (Server-Sent Events):</p>
        <Command text={stack.curl('/stack/v1/stream', { query: queryOf(filter) })} />
      </details>
    </>
  );
}
