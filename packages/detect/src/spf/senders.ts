// Who an SPF policy lets send: the hosts that it names, and how far from the domain's own words they stand.
import type { SpfPolicy } from './policy.ts';

export interface SpfSender {
  /** Lower-case target as written; macros stay (`%{i}.spf.example.net`). */
  readonly host: string;
  readonly via: 'include' | 'exists' | 'redirect';
  /**
   * Foreign policies between the domain and the term: 0 was chosen by the domain itself, in its record or in another
   * one under its own name; from 1 on it is a choice of whoever the domain included.
   */
  readonly depth: number;
  /** The name whose record has the term. */
  readonly from: string;
  /** Has macros: what it asks for depends on the sender. */
  readonly isDynamic: boolean;
}

/** All hosts that a policy names, nearest first: evidence of senders, weaker with every foreign policy between. */
export function spfTargets({ senders }: Pick<SpfPolicy, 'senders'>): readonly SpfSender[] {
  const isSorted = senders.every(({ depth }, i) => i === 0 || depth >= (senders[i - 1]?.depth ?? 0));
  return isSorted ? senders : senders.toSorted((a, b) => a.depth - b.depth);
}
