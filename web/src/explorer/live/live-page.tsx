// Events as they come, beginning with those of the last hour.
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
import { Announcement, LineState } from './stream-state.tsx';
import { PAST_PATH, pastInput, useEvents } from './use-events.ts';

export function Live() {
  const search: Readonly<Record<string, string>> = useSearch({ from: '/live' });
  const filter = filterOf(search);
  const { live, act, again } = useEvents(filter);
  const { past, line, isPaused } = live;
  return (
    <Page title="Live" lead="Migrations, changes, anomalies and advisories as they are confirmed.">
      <Card title="Which events">
        <FilterForm search={search} />
        <p className="small soft live-cost">
          Opening the page or changing the filter costs two requests of your key's day, or a few more after a busy hour;
          joining again after a break costs one. Events are free, however many come.
        </p>
      </Card>
      <Card
        title="Events"
        actions={
          <>
            <LineState line={line} isPaused={isPaused} />
            {past && <PauseButton live={live} onPress={() => act({ kind: isPaused ? 'resume' : 'pause' })} />}
          </>
        }
        foot={past && <LiveSource filter={filter} past={past} />}
      >
        {line.kind === 'ended' && <Ended problem={line.problem} onRetry={again} />}
        {past && <Events live={live} past={past} />}
        {!past && line.kind !== 'ended' && <Loading lines={8} />}
      </Card>
    </Page>
  );
}

function Events({ live, past }: { readonly live: LiveState; readonly past: Past }) {
  const { arrived, entries } = live;
  return (
    <>
      <p className="small soft live-count">
        {formatNumber(arrived)} new since {formatTime(past.body.provenance.signed_at)}, below them those of the hour
        before. The newest {formatNumber(MAX_ENTRIES)} are kept.
      </p>
      <Announcement live={live} />
      {entries.length === 0 ? (
        <Empty>Nothing in the last hour. What happens from now on appears here by itself.</Empty>
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
      {isPaused ? `Resume · ${formatNumber(heldEvents)} waiting` : 'Pause'}
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
          Join again
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
        <summary>The stream itself</summary>
        <p className="small soft">Server-Sent Events, from now on:</p>
        <Command text={stack.curl('/stack/v1/stream', { query: queryOf(filter) })} />
      </details>
    </>
  );
}
