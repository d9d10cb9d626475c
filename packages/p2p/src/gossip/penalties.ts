// How neighbours behaved in gossip: what counts against them fades, and who has too much of it is not read for a while.
import { forgetOldest } from '../forget-oldest.ts';

interface Count {
  readonly points: number;
  readonly atMs: number;
}

const HALF_LIFE_MS = 30_000;
/** More is not needed to be unread for minutes. */
const MAX_POINTS = 1_000;
const MAX_PEERS = 10_000;

export class Conduct {
  readonly #counts = new Map<string, Count>();

  add(peer: string, points: number, nowMs: number): void {
    const sum = Math.min(MAX_POINTS, this.points(peer, nowMs) + points);
    this.#counts.delete(peer);
    this.#counts.set(peer, { points: sum, atMs: nowMs });
    forgetOldest(this.#counts, MAX_PEERS);
  }

  /** 0 for a peer of whom nothing bad is remembered. */
  points(peer: string, nowMs: number): number {
    const count = this.#counts.get(peer);
    return count ? count.points * 2 ** (-Math.max(0, nowMs - count.atMs) / HALF_LIFE_MS) : 0;
  }
}
