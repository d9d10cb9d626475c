// The state of the live page: entries newest first, entries held while paused, and the status of the stream.
import type { StackAnswer, StackEvent, StackPaths, StreamState } from '@strata/client';

/** Past events, oldest first. */
export type Past = StackAnswer<StackPaths['/stack/v1/stream/json']['body']>;

/** An event, or a gap where events are missing. */
export type Entry =
  | { readonly kind: 'event'; readonly id: string; readonly event: StackEvent; readonly isNew: boolean }
  | { readonly kind: 'gap'; readonly id: string; readonly reason: string };

export type StreamStatus =
  | Exclude<StreamState, { readonly kind: 'reset' }>
  | { readonly kind: 'ended'; readonly problem: Error };

export interface Live {
  /** The first answer with past events; null until it arrives. */
  readonly past: Past | null;
  readonly entries: readonly Entry[];
  /** Received while paused. */
  readonly held: readonly Entry[];
  /** Number of events received while paused, including dropped ones. */
  readonly heldEvents: number;
  readonly isPaused: boolean;
  /** Events received since the page was opened. */
  readonly arrived: number;
  readonly status: StreamStatus;
}

export type Action =
  | { readonly kind: 'begin' }
  /** The first answers cover the time before the page was opened; later ones cover an interruption. */
  | { readonly kind: 'past'; readonly past: Past; readonly isNew: boolean }
  /** In order of arrival, oldest first. */
  | { readonly kind: 'received'; readonly entries: readonly Entry[] }
  | { readonly kind: 'status'; readonly status: StreamStatus }
  | { readonly kind: 'pause' }
  | { readonly kind: 'resume' };

/** Older events are available in the lists of the other pages. */
export const MAX_ENTRIES = 200;

export const START: Live = {
  past: null,
  entries: [],
  held: [],
  heldEvents: 0,
  isPaused: false,
  arrived: 0,
  status: { kind: 'connecting' },
};

export function reduce(live: Live, action: Action): Live {
  switch (action.kind) {
    case 'begin':
      return { ...START, isPaused: live.isPaused };
    case 'past': {
      const { past, isNew } = action;
      const entries = past.body.events.map((event): Entry => ({ kind: 'event', id: event.id, event, isNew }));
      if (isNew) return receive(live, entries);
      return { ...live, past: live.past ?? past, entries: inOrder([...withoutKnown(entries, live), ...live.entries]) };
    }
    case 'received':
      return receive(live, action.entries);
    case 'status':
      return { ...live, status: action.status };
    case 'pause':
      return { ...live, isPaused: true };
    case 'resume': {
      const entries = [...live.held, ...live.entries].slice(0, MAX_ENTRIES);
      return { ...live, isPaused: false, held: [], heldEvents: 0, entries };
    }
    default:
      return action satisfies never;
  }
}

function receive(live: Live, received: readonly Entry[]): Live {
  const entries = withoutKnown(received, live).toReversed();
  const events = entries.filter(({ kind }) => kind === 'event').length;
  const arrived = live.arrived + events;
  if (!live.isPaused) return { ...live, arrived, entries: [...entries, ...live.entries].slice(0, MAX_ENTRIES) };
  const held = [...entries, ...live.held].slice(0, MAX_ENTRIES);
  return { ...live, arrived, heldEvents: live.heldEvents + events, held };
}

/** Drops known entries: past events and the stream overlap, so that no event is missed. */
function withoutKnown(entries: readonly Entry[], live: Live): Entry[] {
  const known = new Set([...live.entries, ...live.held].map(({ id }) => id));
  return entries.filter(({ id }) => !known.has(id));
}

/** Newest first: no two events are published in the same microsecond. A gap is the latest interruption and sorts first. */
function inOrder(entries: readonly Entry[]): readonly Entry[] {
  const at = (entry: Entry) => (entry.kind === 'event' ? entry.event.published_at : '~');
  return entries.toSorted((a, b) => (at(a) < at(b) ? 1 : at(a) > at(b) ? -1 : 0)).slice(0, MAX_ENTRIES);
}
