// How far a worker is trusted: what audits of its answers say, weighed as they come, and forgotten little by little.

/** Plain data, so that it can be kept over a restart. */
export interface Standing {
  /** Audits and tokens checked in all. */
  readonly audits: number;
  readonly tokens: number;
  /** Log-likelihood ratio of the sequential test: positive speaks for a cheat. */
  readonly evidence: number;
  readonly state: 'new' | 'good' | 'suspect' | 'quarantined';
  readonly changedAtMs: number;
  /** Why it was quarantined, in words. */
  readonly reason: string | undefined;
}

export const NEWCOMER: Standing = {
  audits: 0,
  tokens: 0,
  evidence: 0,
  state: 'new',
  changedAtMs: 0,
  reason: undefined,
};

/** What an audit found. `proof`: something that no honest worker does (a forged receipt, counts that are not so). */
export type Finding =
  | { readonly kind: 'scored'; readonly margins: readonly number[] }
  | { readonly kind: 'proof'; readonly reason: string };

export function afterFinding(_standing: Standing, _finding: Finding, _nowMs: number): Standing {
  throw new Error('not yet');
}

/** Standing as it is now: what was long ago counts less. */
export function atTime(standing: Standing, _nowMs: number): Standing {
  return standing;
}

/** Share of this worker's answers to audit, given the configured share for those in good standing. */
export function auditShare(_standing: Standing, configured: number): number {
  return configured;
}

/** 0 to 1, for placement; 0 for quarantined. */
export function trust(standing: Standing): number {
  return standing.state === 'quarantined' ? 0 : 1;
}
