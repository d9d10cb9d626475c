// When a worker that failed is asked again: not at once, later each time, and first with one job alone. Pure: plain data in and out.

export interface Breaker {
  /** Failures since the last success. */
  readonly failures: number;
  /** Nothing is sent there before. */
  readonly openUntilMs: number;
  /** A job that shows how it goes is there; when nothing was heard of it by then, another one may go. */
  readonly probeUntilMs: number;
}

/** `half-open`: one job may go there. */
export type BreakerState = 'closed' | 'open' | 'half-open';

export const CLOSED: Breaker = { failures: 0, openUntilMs: 0, probeUntilMs: 0 };

/** After the first failure: longer than a hiccup, shorter than a reader's patience. */
const FIRST_PAUSE_MS = 500;
/** A worker that came back is found again within this time. */
const LONGEST_PAUSE_MS = 60_000;
/** A probe that was cancelled says nothing; so long it keeps others away. */
const PROBE_MS = 30_000;

export function breakerState(breaker: Breaker, nowMs: number): BreakerState {
  if (nowMs < breaker.openUntilMs || nowMs < breaker.probeUntilMs) return 'open';
  return breaker.failures === 0 ? 'closed' : 'half-open';
}

/** A job was sent: to a half-open one it is the probe, and no other goes there before its outcome. */
export function afterAsked(breaker: Breaker, nowMs: number): Breaker {
  return breakerState(breaker, nowMs) === 'half-open' ? { ...breaker, probeUntilMs: nowMs + PROBE_MS } : breaker;
}

/**
 * Twice the pause for each failure in a row, spread by half either way so that many gateways do not come back at once. Jobs that were
 * lost together are one failure.
 */
export function afterFailure(breaker: Breaker, nowMs: number, random: () => number): Breaker {
  const { failures, openUntilMs } = breaker;
  if (failures > 0 && nowMs < openUntilMs) return breaker;
  const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures) * (0.5 + random());
  return { failures: failures + 1, openUntilMs: nowMs + pauseMs, probeUntilMs: 0 };
}

/** A job went well: it is held against nothing any more. What it asked for itself, a pause without a failure, stands. */
export function afterSuccess(breaker: Breaker): Breaker {
  return breaker.failures === 0 ? breaker : CLOSED;
}

/** It said that it has no place just now: no fault, and no reason to ask again at once. */
export function afterRefusal(breaker: Breaker, nowMs: number, pauseMs: number): Breaker {
  return { ...breaker, openUntilMs: Math.max(breaker.openUntilMs, nowMs + pauseMs), probeUntilMs: 0 };
}
