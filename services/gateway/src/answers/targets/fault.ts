// Why a target gave no answer, if another one may give it. An error of the client's request is not a fault: it fails everywhere.
import { EngineError, type EngineErrorCode, NotLoadedError, UpstreamError } from '@strata/engine';
import { CompletionError } from '@strata/inference';

/**
 * `busy`: a limit is reached, or no worker is there; `failed`: 5xx, a crash, or an unreadable answer; `refused`: key, account
 * or model of an upstream; `context`: the prompt is too long for the model.
 */
export const FAULT_REASONS = ['connect', 'timeout', 'busy', 'failed', 'refused', 'context'] as const;

export interface Fault {
  readonly reason: (typeof FAULT_REASONS)[number];
  /** How long the target asks to wait. */
  readonly retryAfterMs?: number | undefined;
}

const OF_COMPLETION: Readonly<Partial<Record<CompletionError['kind'], Fault['reason']>>> = {
  overloaded: 'busy',
  rate_limit: 'busy',
  engine_failed: 'failed',
  model_not_found: 'refused',
  context_length: 'context',
};

const OF_ENGINE: Readonly<Partial<Record<EngineErrorCode, Fault['reason']>>> = {
  crashed: 'failed',
  'job-too-long': 'context',
  'model-unusable': 'refused',
  'no-worker': 'busy',
  'not-loaded': 'busy',
  'upstream-failed': 'failed',
  'upstream-refused': 'refused',
};

/** Undefined for an error of the client's request, and for one that is not expected. */
export function faultOf(error: unknown): Fault | undefined {
  if (error instanceof UpstreamError) return { reason: error.fault, retryAfterMs: error.retryAfterMs };
  if (error instanceof CompletionError) {
    const reason = OF_COMPLETION[error.kind];
    return reason && { reason, retryAfterMs: error.retryAfterMs };
  }
  if (!(error instanceof EngineError)) return undefined;
  const reason = OF_ENGINE[error.code];
  return reason && { reason, retryAfterMs: error instanceof NotLoadedError ? error.retryAfterMs : undefined };
}
