// A rule that matched, with what it matched; the currency between matching, judging and weighing.
import type { Rule } from './matchers.ts';
import type { Role } from './profile.ts';
import type { ShownVersion } from './version.ts';

export interface Finding {
  readonly rule: Rule;
  /** The record, header or other value that was seen, uncut. */
  readonly value: string;
  /** The rule's strength, or less where the circumstances take from it. */
  readonly strength: number;
  /** From the most preferred exchanges; set on MX findings only. */
  readonly isPreferred?: boolean;
  /** An alias whose target does not exist (any more, or yet). */
  readonly isDangling?: boolean;
  /** A look-up that failed leaves open whether it stands: judged with the others, for it may hide them, and told to nobody. */
  readonly isUndecided?: boolean;
  /** The product's version, where the value shows it. */
  readonly shown?: ShownVersion | undefined;
}

/** What the findings come to, and the roles in which a failed look-up leaves open who holds them. */
export interface Judgement {
  readonly isParked: boolean;
  readonly findings: readonly Finding[];
  readonly unsettled: ReadonlySet<Role>;
}
