// What the live page holds: events newest first, those that came while it was paused, and the state of the line.
import type { StackEvent, StackProblem, StreamState } from '@strata/client';

/** An event, or a place where some are missing. */
export type Entry =
  | { readonly kind: 'event'; readonly id: string; readonly event: StackEvent; readonly isNew: boolean }
  | { readonly kind: 'gap'; readonly id: string; readonly reason: string };

export type Line =
  | Exclude<StreamState, { readonly kind: 'reset' }>
  | { readonly kind: 'ended'; readonly problem: StackProblem | Error };

export interface Live {
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
  | { readonly kind: 'begin'; readonly events: readonly StackEvent[] }
  /** Oldest first, as they come. */
  | { readonly kind: 'came'; readonly entries: readonly Entry[] }
  | { readonly kind: 'line'; readonly line: Line }
  | { readonly kind: 'pause' }
  | { readonly kind: 'resume' };

/** Enough to read back for a while; what is older is a question for the lists. */
export const MOST_ENTRIES = 400;

export const START: Live = {
  entries: [],
  held: [],
  heldEvents: 0,
  isPaused: false,
  arrived: 0,
  line: { kind: 'connecting' },
};

export function reduce(live: Live, action: Action): Live {
  switch (action.kind) {
    case 'begin': {
      const entries = action.events.map((event): Entry => ({ kind: 'event', id: event.id, event, isNew: false }));
      return { ...START, isPaused: live.isPaused, entries: newestFirst([], entries) };
    }
    case 'came': {
      const known = new Set([...live.entries, ...live.held].map(({ id }) => id));
      const entries = action.entries.filter(({ id }) => !known.has(id));
      const arrived = live.arrived + entries.filter((entry) => entry.kind === 'event' && entry.isNew).length;
      if (!live.isPaused) return { ...live, arrived, entries: newestFirst(live.entries, entries) };
      const heldEvents = live.heldEvents + entries.filter(({ kind }) => kind === 'event').length;
      return { ...live, arrived, heldEvents, held: newestFirst(live.held, entries) };
    }
    case 'line':
      return { ...live, line: action.line };
    case 'pause':
      return { ...live, isPaused: true };
    case 'resume': {
      const entries = [...live.held, ...live.entries].slice(0, MOST_ENTRIES);
      return { ...live, isPaused: false, held: [], heldEvents: 0, entries };
    }
    default:
      return action satisfies never;
  }
}

function newestFirst(before: readonly Entry[], came: readonly Entry[]): readonly Entry[] {
  return [...came.toReversed(), ...before].slice(0, MOST_ENTRIES);
}
