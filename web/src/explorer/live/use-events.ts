// Follows the stream while the page is open, and begins with the events of the last hour.
import { type EventFilter, StackProblem } from '@strata/client';
import { type Dispatch, useEffect, useReducer, useState } from 'react';
import { onReached, tellUnreached } from '../answer/connection.ts';
import { isUnreached } from '../answer/queries.ts';
import { setQuota, stack, useKey } from '../answer/session.ts';
import { type Action, type Entry, type Live, reduce, START } from './entries.ts';
import { queryOf } from './event-filter.ts';

export const PAST_PATH = '/stack/v1/stream/json';

/** A burst is drawn at once, not event by event. */
const DRAW_MS = 150;
const MAX_AT_ONCE = 400;
/** Requests for the last hour; with more events than these hold the stream alone must do. */
const MAX_PAGES = 5;

/** What the page begins with, as it is asked for. */
export function pastInput(filter: EventFilter) {
  return { query: { ...queryOf(filter), limit: MAX_AT_ONCE } };
}

/** The events of the last hour and all that come after them, none twice and none missing between. */
export function useEvents(filter: EventFilter): {
  readonly live: Live;
  readonly act: Dispatch<Action>;
  readonly again: () => void;
} {
  const [live, act] = useReducer(reduce, START);
  const [attempt, setAttempt] = useState(0);
  const key = useKey();
  const filterText = JSON.stringify(filter);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another key and another attempt are reasons to begin anew
  useEffect(() => {
    const stop = new AbortController();
    act({ kind: 'begin' });
    void follow(JSON.parse(filterText) as EventFilter, { act, stop });
    return () => stop.abort();
  }, [filterText, key, attempt]);
  const isCutOff = live.line.kind === 'ended' && isUnreached(live.line.problem);
  useEffect(() => (isCutOff ? onReached(() => setAttempt((before) => before + 1)) : undefined), [isCutOff]);
  return { live, act, again: () => setAttempt(attempt + 1) };
}

interface FollowContext {
  readonly act: Dispatch<Action>;
  readonly stop: AbortController;
}

/** Joins the stream first and asks for the past then: what happens meanwhile is in both, and shown once. */
async function follow(filter: EventFilter, { act, stop }: FollowContext): Promise<void> {
  const { signal } = stop;
  const come = batched((entries: readonly Entry[]) => !signal.aborted && act({ kind: 'came', entries }));
  const end = (error: unknown) => {
    if (signal.aborted) return;
    stop.abort();
    if (error instanceof StackProblem) setQuota(error.quota);
    if (isUnreached(error)) tellUnreached();
    act({ kind: 'line', line: { kind: 'ended', problem: error instanceof Error ? error : new Error(String(error)) } });
  };
  const catchUp = pastReader(filter, { act, signal });
  let isNumbered = false;
  let gaps = 0;
  const events = stack.events(filter, {
    signal,
    onEventId: () => {
      isNumbered = true;
    },
    onState: (state) => {
      if (signal.aborted) return;
      if (state.kind === 'reset') {
        gaps += 1;
        return come({ kind: 'gap', id: `gap ${gaps}`, reason: state.reason });
      }
      act({ kind: 'line', line: state });
      // Without an event's number the stream cannot go on where it broke.
      if (state.kind === 'open' && !isNumbered) catchUp().catch(end);
    },
  });
  try {
    for await (const event of events) come({ kind: 'event', id: event.id, event, isNew: true });
  } catch (error) {
    end(error);
  }
}

/** Each call reads on from where the last one ended; the first begins an hour ago. */
function pastReader(
  filter: EventFilter,
  { act, signal }: { readonly act: Dispatch<Action>; readonly signal: AbortSignal },
): () => Promise<void> {
  let since: string | undefined;
  let isNew = false;
  return async () => {
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const { query } = pastInput(filter);
      const past = await stack.get(PAST_PATH, { query: { ...query, since } }, { signal });
      setQuota(past.quota);
      since = past.body.next_since;
      if (!signal.aborted) act({ kind: 'past', past, isNew });
      if (!past.body.has_more) break;
    }
    isNew = true;
  };
}

function batched(tell: (entries: readonly Entry[]) => void): (entry: Entry) => void {
  let waiting: Entry[] = [];
  return (entry) => {
    waiting.push(entry);
    if (waiting.length > 1) return;
    setTimeout(() => {
      const entries = waiting;
      waiting = [];
      tell(entries);
    }, DRAW_MS);
  };
}
