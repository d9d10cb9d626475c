// Chooses the connection to evict when all slots are taken: addresses with many connections, which one machine with
// many keys can open, lose connections before addresses with few.
import { CONNECTIONS } from '../limits.ts';

interface ConnectionSlot {
  readonly host: string;
  /** Dialled by this host, or named by the operator. */
  readonly isKept: boolean;
  /** It has a channel. */
  readonly isBusy: boolean;
  readonly openedAtMs: number;
}

/**
 * The connection to close for a new one from `host`, undefined if the new one must be refused: an idle one of an
 * address with
 * more connections, or a long idle one of an address with as many; a busy one only of an address that has far too
 * many. The youngest is closed first.
 */
export function connectionToEvict<T extends ConnectionSlot>(
  slots: readonly T[],
  host: string,
  nowMs: number,
): T | undefined {
  const counts = new Map<string, number>();
  for (const slot of slots) counts.set(slot.host, (counts.get(slot.host) ?? 0) + 1);
  const countOf = (name: string) => counts.get(name) ?? 0;
  const own = countOf(host);
  const isEvictable = (slot: T) => {
    if (slot.isKept) return false;
    const count = countOf(slot.host);
    const isCrowded = count > own + 1;
    if (slot.isBusy) return isCrowded && count > CONNECTIONS.maxBusyPerHostWhenFull;
    return isCrowded || (count >= own && nowMs - slot.openedAtMs > CONNECTIONS.idleWhenFullMs);
  };
  const order = (a: T, b: T) =>
    Number(a.isBusy) - Number(b.isBusy) || countOf(b.host) - countOf(a.host) || b.openedAtMs - a.openedAtMs;
  return slots.filter(isEvictable).toSorted(order)[0];
}
