// Who gives way when all places are taken: whoever has many connections from one address, which one machine with many keys can
// do, before whoever has few.
import { CONNECTIONS } from '../limits.ts';

export interface Place {
  readonly host: string;
  /** It was dialled from here, or named by the operator. */
  readonly isKept: boolean;
  /** It has a channel. */
  readonly isBusy: boolean;
  readonly openedAtMs: number;
}

/**
 * The place that a newcomer of `host` may have, undefined where it has to be refused: an idle one of an address with more of
 * them, or one that is idle for long of an address with as many; a busy one only of an address that has far too many. The
 * youngest goes first.
 */
export function connectionToEvict<T extends Place>(places: readonly T[], host: string, nowMs: number): T | undefined {
  const counts = new Map<string, number>();
  for (const place of places) counts.set(place.host, (counts.get(place.host) ?? 0) + 1);
  const countOf = (name: string) => counts.get(name) ?? 0;
  const own = countOf(host);
  const mayGo = (place: T) => {
    if (place.isKept) return false;
    const count = countOf(place.host);
    const isCrowded = count > own + 1;
    if (place.isBusy) return isCrowded && count > CONNECTIONS.maxBusyPerHostWhenFull;
    return isCrowded || (count >= own && nowMs - place.openedAtMs > CONNECTIONS.idleWhenFullMs);
  };
  const order = (a: T, b: T) =>
    Number(a.isBusy) - Number(b.isBusy) || countOf(b.host) - countOf(a.host) || b.openedAtMs - a.openedAtMs;
  return places.filter(mayGo).toSorted(order)[0];
}
