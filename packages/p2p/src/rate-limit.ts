// How often somebody may do something: a bucket of tokens for each, filled at a steady rate.
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

  /** Remembers so many names; who was silent longest is forgotten first, and has a full bucket again. */
  constructor(bounds: { readonly burst: number; readonly perSecond: number; readonly max: number }) {
    this.#burst = bounds.burst;
    this.#perSecond = bounds.perSecond;
    this.#max = bounds.max;
  }

  /** False where it was too often; that attempt is not counted. */
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
