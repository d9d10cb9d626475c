// Follows the stream while the page is open, from the events that the page begins with.
import { type EventFilter, type StackAnswer, type StackEvent, type StackPaths, StackProblem } from '@strata/client';
import { type Dispatch, useEffect, useReducer, useState } from 'react';
import { setQuota, stack, useSession } from '../session.ts';
import { type Action, type Entry, type Live, reduce, START } from './entries.ts';

type Past = StackAnswer<StackPaths['/stack/v1/stream/json']['body']>;

/** A burst is drawn at once, not event by event. */
const DRAW_MS = 150;

/** The events of the last hour and all that come after them, none twice and none missing between. */
export function useEvents(
  filter: EventFilter,
  past: Past | undefined,
): { readonly live: Live; readonly act: Dispatch<Action>; readonly again: () => void } {
  const [live, act] = useReducer(reduce, START);
  const [attempt, setAttempt] = useState(0);
  const { key } = useSession();
  const filterText = JSON.stringify(filter);
  const hasPast = past !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a later answer to the same question is no reason to begin anew
  useEffect(() => {
    if (!past) return;
    const stop = new AbortController();
    act({ kind: 'begin', events: past.body.events });
    void follow({ filter, past, act, signal: stop.signal });
    return () => stop.abort();
  }, [filterText, key, attempt, hasPast]);
  return { live, act, again: () => setAttempt(attempt + 1) };
}

interface FollowInput {
  readonly filter: EventFilter;
  readonly past: Past;
  readonly act: Dispatch<Action>;
  readonly signal: AbortSignal;
}

async function follow({ filter, past, act, signal }: FollowInput): Promise<void> {
  const openedAt = Date.parse(past.body.provenance.signed_at);
  let waiting: Entry[] = [];
  const come = (entry: Entry) => {
    waiting.push(entry);
    if (waiting.length > 1) return;
    setTimeout(() => {
      if (!signal.aborted) act({ kind: 'came', entries: waiting });
      waiting = [];
    }, DRAW_MS);
  };
  const events = stack.events(filter, {
    signal,
    lastEventId: streamIdOf(past.body.events.at(-1)),
    onState: (state) => {
      if (signal.aborted) return;
      if (state.kind === 'reset') come({ kind: 'gap', id: `gap ${Date.now()}`, reason: state.reason });
      else act({ kind: 'line', line: state });
    },
  });
  try {
    for await (const event of events) {
      come({ kind: 'event', id: event.id, event, isNew: Date.parse(event.published_at) > openedAt });
    }
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof StackProblem) setQuota(error.quota);
    act({ kind: 'line', line: { kind: 'ended', problem: error instanceof Error ? error : new Error(String(error)) } });
  }
}

/** An event's id is `ev_` and its number in the stream, which is what the stream resumes from. */
function streamIdOf(event: StackEvent | undefined): string | undefined {
  return /^ev_0*(\d+)$/.exec(event?.id ?? '')?.[1];
}
