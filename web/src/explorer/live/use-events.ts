// Subscribes to the event stream while the page is open, starting with the events of the last hour.
import { type EventFilter, StackProblem } from '@strata/client';
import { type Dispatch, useEffect, useReducer, useState } from 'react';
import { onReconnect, reportUnreachable } from '../answer/connection.ts';
import { isNetworkError } from '../answer/queries.ts';
import { setQuota, stack, useKey } from '../answer/session.ts';
import { type Action, type Entry, type Live, reduce, START } from './entries.ts';
import { queryOf } from './event-filter.tsx';

/** Events within this time are rendered together. */
const BATCH_MS = 150;
const PAGE_LENGTH = 400;
/** Maximum number of requests for past events; older events are skipped if there are more. */
const MAX_PAGES = 5;

/** The events of the last hour and all later events, without duplicates or gaps between the two. */
export function useEvents(filter: EventFilter): {
  readonly live: Live;
  readonly act: Dispatch<Action>;
  readonly retry: () => void;
} {
  const [live, act] = useReducer(reduce, START);
  const [attempt, setAttempt] = useState(0);
  const key = useKey();
  const filterText = JSON.stringify(filter);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new key or attempt restarts the subscription
  useEffect(() => {
    const stop = new AbortController();
    act({ kind: 'begin' });
    void subscribe(JSON.parse(filterText) as EventFilter, { act, stop });
    return () => stop.abort();
  }, [filterText, key, attempt]);
  const isDisconnected = live.status.kind === 'ended' && isNetworkError(live.status.problem);
  useEffect(
    () => (isDisconnected ? onReconnect(() => setAttempt((before) => before + 1)) : undefined),
    [isDisconnected],
  );
  return { live, act, retry: () => setAttempt(attempt + 1) };
}

interface SubscribeContext {
  readonly act: Dispatch<Action>;
  readonly stop: AbortController;
}

/** Subscribes first and then requests past events: events in both are shown once. */
async function subscribe(filter: EventFilter, { act, stop }: SubscribeContext): Promise<void> {
  const { signal } = stop;
  const receive = batched((entries: readonly Entry[]) => !signal.aborted && act({ kind: 'received', entries }));
  const end = (error: unknown) => {
    if (signal.aborted) return;
    stop.abort();
    if (error instanceof StackProblem) setQuota(error.quota);
    if (isNetworkError(error)) reportUnreachable();
    act({
      kind: 'status',
      status: { kind: 'ended', problem: error instanceof Error ? error : new Error(String(error)) },
    });
  };
  const catchUp = pastReader(filter, { act, signal });
  let hasEventId = false;
  let gaps = 0;
  const events = stack.events(filter, {
    signal,
    onEventId: () => {
      hasEventId = true;
    },
    onState: (state) => {
      if (signal.aborted) return;
      if (state.kind === 'reset') {
        gaps += 1;
        return receive({ kind: 'gap', id: `gap ${gaps}`, reason: state.reason });
      }
      act({ kind: 'status', status: state });
      // Without an event id the stream cannot resume, so past events are requested instead.
      if (state.kind === 'open' && !hasEventId) catchUp().catch(end);
    },
  });
  try {
    for await (const event of events) receive({ kind: 'event', id: event.id, event, isNew: true });
  } catch (error) {
    end(error);
  }
}

/** Each call continues where the last one ended; the first starts one hour ago. */
function pastReader(
  filter: EventFilter,
  { act, signal }: { readonly act: Dispatch<Action>; readonly signal: AbortSignal },
): () => Promise<void> {
  let since: string | undefined;
  let isNew = false;
  return async () => {
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const query = { ...queryOf(filter), limit: PAGE_LENGTH, since };
      const past = await stack.get('/stack/v1/stream/json', { query }, { signal });
      setQuota(past.quota);
      since = past.body.next_since;
      if (!signal.aborted) act({ kind: 'past', past, isNew });
      if (!past.body.has_more) break;
    }
    isNew = true;
  };
}

/** Collects entries and delivers them together after `BATCH_MS`. */
function batched(deliver: (entries: readonly Entry[]) => void): (entry: Entry) => void {
  let waiting: Entry[] = [];
  return (entry) => {
    waiting.push(entry);
    if (waiting.length > 1) return;
    setTimeout(() => {
      const entries = waiting;
      waiting = [];
      deliver(entries);
    }, BATCH_MS);
  };
}
