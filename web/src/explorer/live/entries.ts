// What the live page holds: events newest first, those that came while it was paused, and the state of the line.
import type { StackAnswer, StackEvent, StackPaths, StreamState } from '@strata/client';

/** Events that were told before, oldest first. */
export type Past = StackAnswer<StackPaths['/stack/v1/stream/json']['body']>;

/** An event, or a place where some are missing. */
export type Entry =
  | { readonly kind: 'event'; readonly id: string; readonly event: StackEvent; readonly isNew: boolean }
  | { readonly kind: 'gap'; readonly id: string; readonly reason: string };

export type Line =
  | Exclude<StreamState, { readonly kind: 'reset' }>
  | { readonly kind: 'ended'; readonly problem: Error };

export interface Live {
  /** What the page began with; null until it is there. */
  readonly past: Past | null;
  readonly entries: readonly Entry[];
  /** Came while paused, and wait to be shown. */
  readonly held: readonly Entry[];
  /** Of all that were held, also those beyond what is kept. */
  readonly heldEvents: number;
  readonly isPaused: boolean;
  /** Events told after the page was opened. */
  readonly arrived: number;
  readonly line: Line;
}

export type Action =
  | { readonly kind: 'begin' }
  /** The first answers are of the time before the page was opened; later ones fill a break of the line. */
  | { readonly kind: 'past'; readonly past: Past; readonly isNew: boolean }
  /** Oldest first, as they come. */
  | { readonly kind: 'came'; readonly entries: readonly Entry[] }
  | { readonly kind: 'line'; readonly line: Line }
  | { readonly kind: 'pause' }
  | { readonly kind: 'resume' };

/** Enough to read back for a while; what is older is a question for the lists. */
export const MAX_ENTRIES = 200;

export const START: Live = {
  past: null,
  entries: [],
  held: [],
  heldEvents: 0,
  isPaused: false,
  arrived: 0,
  line: { kind: 'connecting' },
};

export function reduce(live: Live, action: Action): Live {
  switch (action.kind) {
    case 'begin':
      return { ...START, isPaused: live.isPaused };
    case 'past': {
      const { past, isNew } = action;
      const entries = past.body.events.map((event): Entry => ({ kind: 'event', id: event.id, event, isNew }));
      if (isNew) return come(live, entries);
      return { ...live, past: live.past ?? past, entries: inOrder([...unknown(entries, live), ...live.entries]) };
    }
    case 'came':
      return come(live, action.entries);
    case 'line':
      return { ...live, line: action.line };
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

function come(live: Live, came: readonly Entry[]): Live {
  const entries = unknown(came, live).toReversed();
  const events = entries.filter(({ kind }) => kind === 'event').length;
  const arrived = live.arrived + events;
  if (!live.isPaused) return { ...live, arrived, entries: [...entries, ...live.entries].slice(0, MAX_ENTRIES) };
  const held = [...entries, ...live.held].slice(0, MAX_ENTRIES);
  return { ...live, arrived, heldEvents: live.heldEvents + events, held };
}

/** Past events and the stream overlap, so that none falls between. */
function unknown(entries: readonly Entry[], live: Live): Entry[] {
  const known = new Set([...live.entries, ...live.held].map(({ id }) => id));
  return entries.filter(({ id }) => !known.has(id));
}

/** Newest first: no two events are told at the same microsecond. A gap is where the line broke last, before all of them. */
function inOrder(entries: readonly Entry[]): readonly Entry[] {
  const at = (entry: Entry) => (entry.kind === 'event' ? entry.event.published_at : '~');
  return entries.toSorted((a, b) => (at(a) < at(b) ? 1 : at(a) > at(b) ? -1 : 0)).slice(0, MAX_ENTRIES);
}
