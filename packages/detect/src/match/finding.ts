// A rule that matched, with the matched value: the unit that matching, judging and weighing exchange.

import type { Role } from '../profile.ts';
import type { Rule } from '../rulebook/matchers.ts';
import type { ShownVersion } from './version.ts';

export interface Finding {
  readonly rule: Rule;
  /** The observed record, header or other value, not truncated. */
  readonly value: string;
  /** The rule's strength, reduced by circumstances. */
  readonly strength: number;
  /** From the most preferred exchanges; only for MX findings. */
  readonly isPreferred?: boolean | undefined;
  /** An alias whose target does not exist, either not yet or no longer. */
  readonly isDangling?: boolean | undefined;
  /**
   * A failed look-up leaves open whether it is valid: it is judged, since it may hide other findings, but never
   * published.
   */
  readonly isUndecided?: boolean | undefined;
  /** The product's version, if the value shows it. */
  readonly shown?: ShownVersion | undefined;
}

/** Properties of a finding in addition to its value. */
type Circumstances = Partial<Pick<Finding, 'strength' | 'isPreferred' | 'isDangling' | 'shown'>>;
const NOTHING: Circumstances = {};

/** Creates a finding. All findings have the same fields in the same order, so that the engine uses one object shape. */
export function findingOf(
  rule: Rule,
  value: string,
  { strength = rule.strength, isPreferred, isDangling, shown }: Circumstances = NOTHING,
): Finding {
  return { rule, value, strength, isPreferred, isDangling, isUndecided: undefined, shown };
}

export function addFindings(findings: Finding[], rules: readonly Rule[], value: string): void {
  for (const rule of rules) findings.push(findingOf(rule, value));
}

/** The judged findings, and the roles whose holder is undecided because of a failed look-up. */
export interface Judgement {
  readonly isParked: boolean;
  readonly findings: readonly Finding[];
  readonly unsettled: ReadonlySet<Role>;
}
