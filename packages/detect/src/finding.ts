// A rule that matched, with what it matched; the currency between matching, judging and weighing.
import type { Rule } from './matchers.ts';

export interface Finding {
  readonly rule: Rule;
  /** The record, header or other value that was seen, uncut. */
  readonly value: string;
  /** The rule's strength, or less where the circumstances take from it. */
  readonly strength: number;
  /** From the most preferred exchanges; set on MX findings only. */
  readonly isPreferred?: boolean;
}
