// Limits how often one address may present invalid keys: each costs a database query.
import { type LimitedName, RateLimiter } from '@strata/limits';
import type { LRUCache } from 'lru-cache';
import { countedCache } from '../limits/counted-cache.ts';

/** More than a program with a mistyped key needs: recently refused keys are cached. */
const MISSES = 100;
const WINDOW_MS = 60_000;
/** Recently valid keys are looked up despite the limit: many clients may share an address. */
const GOOD_MS = 24 * 3_600_000;

export class InvalidKeyLimit {
  readonly #misses: RateLimiter;
  readonly #good: LRUCache<string, true>;

  /** `monotonicNow` in milliseconds: a wall clock that is set back must not lock clients out. */
  constructor(monotonicNow: () => number = () => performance.now()) {
    this.#misses = new RateLimiter({ limit: MISSES, period: WINDOW_MS, refill: 'window', now: monotonicNow });
    this.#good = countedCache(50_000, { ttl: GOOD_MS, ttlResolution: 0, perf: { now: monotonicNow } });
  }

  /**
   * Before the lookup of a key, by its digest: counts it as a miss until it is `found`, so that concurrent lookups are
   * limited too. Returns 0, or the seconds until this address may try again.
   */
  try(networks: readonly LimitedName[], digest: string): number {
    return this.#good.has(digest) ? 0 : Math.ceil(this.#misses.take(networks) / 1_000);
  }

  /** The key was valid. */
  found(networks: readonly LimitedName[], digest: string): void {
    if (!this.#good.has(digest)) this.#misses.refund(networks);
    this.#good.set(digest, true);
  }

  /** The lookup failed: this does not count against the caller. */
  undecided(networks: readonly LimitedName[]): void {
    this.#misses.refund(networks);
  }

  /** The key is invalid or was revoked. */
  missed(digest: string): void {
    this.#good.delete(digest);
  }
}
