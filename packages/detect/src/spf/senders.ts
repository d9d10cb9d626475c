// Who an SPF policy lets send: the hosts that it names, and how far from the domain's own words they stand.
import type { SpfPolicy, SpfSender } from './types.ts';

/** All hosts that a policy names, nearest first: detection takes those that the domain chose, and the posture lists all. */
export function spfTargets({ senders }: Pick<SpfPolicy, 'senders'>): readonly SpfSender[] {
  const isSorted = senders.every(({ depth }, i) => i === 0 || depth >= (senders[i - 1]?.depth ?? 0));
  return isSorted ? senders : senders.toSorted((a, b) => a.depth - b.depth);
}
