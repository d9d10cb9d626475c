// Events as they come, beginning with those of the last hour.
import './live.css';
import { StackProblem } from '@strata/client';
import { useSearch } from '@tanstack/react-router';
import { Card } from '../../ui/card.tsx';
import { Command } from '../../ui/command.tsx';
import { formatNumber, formatTime } from '../../ui/formats.ts';
import { Empty, Notice } from '../../ui/states.tsx';
import { Answer, Problem } from '../answer.tsx';
import { type Live as LiveState, MOST_ENTRIES } from '../live/entries.ts';
import { filterOf, queryOf } from '../live/event-filter.ts';
import { EventList } from '../live/event-list.tsx';
import { FilterForm } from '../live/filter-form.tsx';
import { Announcement, LineState } from '../live/line-state.tsx';
import { useEvents } from '../live/use-events.ts';
import { Page } from '../page.tsx';
import { stack } from '../session.ts';
import { Source } from '../source.tsx';
import { useStack } from '../use-stack.ts';

const PAST_EVENTS = 200;
const PAST = '/stack/v1/stream/json';

export function Live() {
  const search: Readonly<Record<string, string>> = useSearch({ from: '/live' });
  const filter = filterOf(search);
  const input = { query: { ...queryOf(filter), limit: PAST_EVENTS } };
  const past = useStack(PAST, input);
  const { live, act, again } = useEvents(filter, past.data);
  return (
    <Page title="Live" lead="Migrations, changes, anomalies and advisories as they are confirmed.">
      <Card title="Which events">
        <FilterForm search={search} />
        <p className="small soft live-cost">
          Opening the page or changing the filter costs two requests of your key's day, joining again after a break one.
          Events are free, however many come.
        </p>
      </Card>
      <Card
        title="Events"
        actions={
          past.data && (
            <>
              <LineState line={live.line} isPaused={live.isPaused} />
              <PauseButton live={live} onPress={() => act({ kind: live.isPaused ? 'resume' : 'pause' })} />
            </>
          )
        }
        foot={past.data && <LiveSource input={input} answer={past.data} />}
      >
        <Answer query={past} lines={8}>
          {({ provenance }) => (
            <>
              <p className="small soft live-count">
                {formatNumber(live.arrived)} since {formatTime(provenance.signed_at)}. The newest{' '}
                {formatNumber(MOST_ENTRIES)} are kept.
              </p>
              <Announcement live={live} />
              {live.line.kind === 'ended' && <Ended problem={live.line.problem} onRetry={again} />}
              {live.entries.length === 0 ? (
                <Empty>Nothing in the last hour. What happens from now on appears here by itself.</Empty>
              ) : (
                <EventList entries={live.entries} />
              )}
            </>
          )}
        </Answer>
      </Card>
    </Page>
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

function LiveSource({ input, answer }: Omit<Parameters<typeof Source<typeof PAST>>[0], 'path'>) {
  const { limit: _limit, ...query } = input.query ?? {};
  return (
    <>
      <Source path={PAST} input={input} answer={answer} />
      <details className="source">
        <summary>The stream itself</summary>
        <p className="small soft">Server-Sent Events, from now on:</p>
        <Command text={stack.curl('/stack/v1/stream', { query })} />
      </details>
    </>
  );
}
