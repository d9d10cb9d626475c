// Circuit breaker: when to retry a worker that failed. Exponential backoff, then a single probe job. Pure: plain data
// in and out.

export interface Breaker {
  /** Failures since the last success. */
  readonly failures: number;
  /** No job is sent before this time. */
  readonly openUntilMs: number;
  /** A probe job is in flight; after this time another one may be sent. */
  readonly probeUntilMs: number;
}

/** `half-open`: one probe job may be sent. */
export type BreakerState = 'closed' | 'open' | 'half-open';

export const CLOSED: Breaker = { failures: 0, openUntilMs: 0, probeUntilMs: 0 };

/** Backoff after the first failure: longer than a short interruption, shorter than a client's patience. */
const MIN_BACKOFF_MS = 500;
/** A worker that has recovered is detected within this time. */
const MAX_BACKOFF_MS = 60_000;
/** A cancelled probe has no outcome; it blocks other jobs for this long. */
const PROBE_MS = 30_000;

export function breakerState(breaker: Breaker, nowMs: number): BreakerState {
  if (nowMs < breaker.openUntilMs || nowMs < breaker.probeUntilMs) return 'open';
  return breaker.failures === 0 ? 'closed' : 'half-open';
}

/** After a job was sent: to a half-open worker it is the probe, and no other job is sent before its outcome. */
export function afterAsked(breaker: Breaker, nowMs: number): Breaker {
  return breakerState(breaker, nowMs) === 'half-open' ? { ...breaker, probeUntilMs: nowMs + PROBE_MS } : breaker;
}

/**
 * The backoff doubles with each consecutive failure, with 50 % jitter so that many gateways do not retry at once. Jobs
 * that were lost together count as one failure.
 */
export function afterFailure(breaker: Breaker, nowMs: number, random: () => number): Breaker {
  const { failures, openUntilMs } = breaker;
  if (failures > 0 && nowMs < openUntilMs) return breaker;
  const backoffMs = Math.min(MAX_BACKOFF_MS, MIN_BACKOFF_MS * 2 ** failures) * (0.5 + random());
  return { failures: failures + 1, openUntilMs: nowMs + backoffMs, probeUntilMs: 0 };
}

/**
 * After a successful job, failures are reset. A backoff that the worker itself requested (`failures` is 0) stays in
 * effect.
 */
export function afterSuccess(breaker: Breaker): Breaker {
  return breaker.failures === 0 ? breaker : CLOSED;
}

/** After the worker refused a job for lack of a free slot: not a failure, but a reason to wait. */
export function afterRefusal(breaker: Breaker, nowMs: number, backoffMs: number): Breaker {
  return { ...breaker, openUntilMs: Math.max(breaker.openUntilMs, nowMs + backoffMs), probeUntilMs: 0 };
}
