// A token-bucket rate limiter: one bucket per name, refilled at a steady rate.
import { forgetOldest } from './forget-oldest.ts';

interface Bucket {
  readonly tokens: number;
  readonly atMs: number;
}

export class RateLimit {
  readonly #burst: number;
  readonly #perSecond: number;
  readonly #max: number;
  readonly #buckets = new Map<string, Bucket>();

  /** Tracks at most `max` names; the least recently used is dropped first, and starts again with a full bucket. */
  constructor(bounds: { readonly burst: number; readonly perSecond: number; readonly max: number }) {
    this.#burst = bounds.burst;
    this.#perSecond = bounds.perSecond;
    this.#max = bounds.max;
  }

  /** False if the rate is exceeded; a refused attempt does not consume a token. */
  take(name: string, nowMs: number): boolean {
    const bucket = this.#buckets.get(name) ?? { tokens: this.#burst, atMs: nowMs };
    const refilled = bucket.tokens + (Math.max(0, nowMs - bucket.atMs) / 1_000) * this.#perSecond;
    const tokens = Math.min(this.#burst, refilled);
    const isTaken = tokens >= 1;
    this.#buckets.delete(name);
    this.#buckets.set(name, { tokens: isTaken ? tokens - 1 : tokens, atMs: nowMs });
    forgetOldest(this.#buckets, this.#max);
    return isTaken;
  }
}
