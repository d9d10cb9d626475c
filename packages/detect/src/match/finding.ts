// A rule that matched, with what it matched; the currency between matching, judging and weighing.

import type { Role } from '../profile.ts';
import type { Rule } from '../rulebook/matchers.ts';
import type { ShownVersion } from './version.ts';

export interface Finding {
  readonly rule: Rule;
  /** The record, header or other value that was seen, uncut. */
  readonly value: string;
  /** The rule's strength, or less where the circumstances take from it. */
  readonly strength: number;
  /** From the most preferred exchanges; set on MX findings only. */
  readonly isPreferred?: boolean | undefined;
  /** An alias whose target does not exist (any more, or yet). */
  readonly isDangling?: boolean | undefined;
  /** A look-up that failed leaves open whether it stands: judged with the others, for it may hide them, and told to nobody. */
  readonly isUndecided?: boolean | undefined;
  /** The product's version, where the value shows it. */
  readonly shown?: ShownVersion | undefined;
}

/** What a finding may say beside its value. */
type Circumstances = Partial<Pick<Finding, 'strength' | 'isPreferred' | 'isDangling' | 'shown'>>;
const NOTHING: Circumstances = {};

/** A rule that matched a value. Every finding begins here, so that all have the same fields in the same order: such are quick to read. */
export function findingOf(
  rule: Rule,
  value: string,
  { strength = rule.strength, isPreferred, isDangling, shown }: Circumstances = NOTHING,
): Finding {
  return { rule, value, strength, isPreferred, isDangling, isUndecided: undefined, shown };
}

/** What the findings come to, and the roles in which a failed look-up leaves open who holds them. */
export interface Judgement {
  readonly isParked: boolean;
  readonly findings: readonly Finding[];
  readonly unsettled: ReadonlySet<Role>;
}
