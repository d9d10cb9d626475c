// Penalty points of gossip neighbours: they decay over time, and a peer with too many is ignored for a while.
import { forgetOldest } from '@strata/limits';

interface Count {
  readonly points: number;
  readonly atMs: number;
}

const HALF_LIFE_MS = 30_000;
/** Enough to be ignored for minutes. */
const MAX_POINTS = 1_000;
const MAX_PEERS = 10_000;

export class Penalties {
  readonly #counts = new Map<string, Count>();

  add(peer: string, points: number, nowMs: number): void {
    const sum = Math.min(MAX_POINTS, this.points(peer, nowMs) + points);
    this.#counts.delete(peer);
    this.#counts.set(peer, { points: sum, atMs: nowMs });
    forgetOldest(this.#counts, MAX_PEERS);
  }

  /** 0 for a peer without penalties. */
  points(peer: string, nowMs: number): number {
    const count = this.#counts.get(peer);
    return count ? count.points * 2 ** (-Math.max(0, nowMs - count.atMs) / HALF_LIFE_MS) : 0;
  }
}
