// The problems of an SPF policy.

/** The errors come first: each makes a permanent error. From `ptr` on, the policy works but should be improved. */
const SPF_PROBLEMS = [
  'several-records',
  'syntax',
  'too-many-lookups',
  'too-many-voids',
  'too-many-exchanges',
  'include-without-policy',
  'redirect-without-policy',
  'loop',
  'ptr',
  'void',
  'wide-range',
  'no-all',
  'redirect-ignored',
  'unreachable-terms',
  'unknown-modifier',
  'unreadable-record',
] as const;
export type SpfProblemCode = (typeof SPF_PROBLEMS)[number];

export interface SpfProblem {
  readonly code: SpfProblemCode;
  /** The name of the record, and the term, at most 128 characters; '' if the problem concerns the entire record. */
  readonly at: string;
  readonly term: string;
}

/** Whether the problem is a permanent error for receivers. */
export function isSpfError(code: SpfProblemCode): boolean {
  return SPF_PROBLEMS.indexOf(code) < SPF_PROBLEMS.indexOf('ptr');
}
