// What audits have shown: their records, and how far a worker runs the model that it claims.
import type { Verified } from '@strata/inference';

export interface AuditorOptions {
  /** Share of answers to audit for workers with a good reputation, 0 to 1; 0 disables audits. 0.02 by default. */
  readonly share?: number;
  /** Maximum number of concurrent audits. 2 by default. */
  readonly concurrency?: number;
  /**
   * Maximum number of tokens that wait for an audit, including prompts; the same limit applies to the ends of runs.
   * 2,000,000 by default.
   */
  readonly maxQueuedTokens?: number;
  /** Time limit for one verifier and one answer. 60,000 by default. */
  readonly timeoutMs?: number;
  /** Numbers from 0 to below 1 that a worker cannot predict. */
  readonly random?: () => number;
}

export interface AuditRecord {
  readonly atMs: number;
  readonly kind: /** The audit of an answer. */ 'answer' | 'challenge';
  /** The audited worker or the challenged verifier. */
  readonly peer: string;
  readonly modelSha256: string;
  /** The number of checked tokens. */
  readonly tokens: number;
  /** Peers that scored it; empty if it was our own engine or nothing was scored. */
  readonly verifiers: readonly string[];
  readonly outcome: 'clean' | 'deviating' | 'proof' | 'unconfirmed' | 'disputed' | 'unverified' | 'passed' | 'failed';
  /** 0 to 1; undefined: not scored. */
  readonly deviation: number | undefined;
}

export interface AuditReach {
  /** Whether audits are on at all. */
  readonly isOn: boolean;
  /** Whether this gateway has an engine with the file. */
  readonly hasOwnEngine: boolean;
  /** Whether another connected worker offers the file. */
  readonly hasOtherWorkers: boolean;
  /** Its engine has no token ids: other tokens than it drew may have the same text. */
  readonly hasNoTokens?: boolean;
  /** Its engine draws tokens itself and scores none. */
  readonly isBlind?: boolean;
}

const claimed = (reason: string): Verified => ({ level: 'claimed', reason });

/** `cleanAudits`: of the worker for this model, since the last audit with a deviation. */
export function auditedLevel(
  cleanAudits: number,
  { isOn, hasOwnEngine, hasOtherWorkers, hasNoTokens, isBlind }: AuditReach,
): Verified {
  if (hasNoTokens)
    return claimed('its engine has no token ids: its answers cannot be audited, nor go on elsewhere exactly');
  if (cleanAudits > 0)
    return {
      level: 'audited',
      reason: `${cleanAudits} ${cleanAudits === 1 ? 'answer' : 'answers'} of the worker scored clean by ${
        hasOwnEngine ? "this gateway's copy of the file" : 'other workers that claim the file'
      }${isBlind ? '; its answers above temperature 0 are not audited' : ''}`,
    };
  if (!isOn) return claimed('audits are off');
  if (!hasOwnEngine && !hasOtherWorkers)
    return claimed('no audit reaches its answers: no other worker and no engine of this gateway has the file');
  if (isBlind)
    return claimed('its engine draws tokens itself and scores none, so that only answers at temperature 0 are audited');
  return claimed('no audited answer of the worker has scored clean for this model yet');
}
