// A rate limiter by name, in bounded memory: a token bucket or a fixed window. It is reset on restart.
import { forgetOldest } from './forget-oldest.ts';

export interface RateLimiterOptions {
  /** The amount that a name can take at once. */
  readonly limit: number;
  /** The time in which all of it becomes available again, in the unit of the clock. */
  readonly period: number;
  /** `steady`: at a constant rate. `window`: all at once, one period after the first amount was taken. */
  readonly refill: 'steady' | 'window';
  /** The clock, usually in milliseconds. Set back, it refills no bucket for up to a period, and starts a new window. */
  readonly now: () => number;
  /** The least recently used name is dropped first, and starts again with the full amount. 50,000 by default. */
  readonly maxNames?: number;
}

/** A name with a multiple of the limit: a network, whose addresses are counted together. */
export interface LimitedName {
  readonly name: string;
  readonly times: number;
}

interface Usage {
  used: number;
  /** The start of the window, or the time up to which the bucket was refilled. */
  at: number;
}

export class RateLimiter {
  readonly #options: Required<RateLimiterOptions>;
  readonly #usages = new Map<string, Usage>();

  constructor(options: RateLimiterOptions) {
    this.#options = { maxNames: 50_000, ...options };
  }

  /**
   * Takes an amount and returns 0, or takes nothing and returns the time until it is available. Of several names, all
   * must allow it, and each counts it. More than the limit can be taken if all of the limit is available.
   */
  take(of: string | readonly LimitedName[], amount = 1): number {
    const { limit, period, refill } = this.#options;
    const at = this.#options.now();
    const named = namesOf(of).map(({ name, times }) => ({ usage: this.#usageOf(name, times, at), max: limit * times }));
    let wait = 0;
    for (const { usage, max } of named) {
      const missing = Math.min(amount, max) - (max - usage.used);
      if (missing <= 0 && max > 0) continue;
      // A limit of 0 is never available.
      const isRefilled = refill === 'steady' && max > 0;
      wait = Math.max(wait, isRefilled ? (missing * period) / max : usage.at + period - at);
    }
    if (wait === 0) for (const { usage } of named) usage.used += amount;
    return wait;
  }

  /** Takes an amount unconditionally: what is left may become negative. */
  spend(name: string, amount: number): void {
    this.#usageOf(name).used += amount;
  }

  /** Returns an amount that was taken. */
  refund(of: string | readonly LimitedName[], amount = 1): void {
    for (const { name } of namesOf(of)) {
      const usage = this.#usages.get(name);
      if (usage) usage.used = Math.max(0, usage.used - amount);
    }
  }

  /** The amount that is left, and the time until all of a bucket is available again. */
  state(name: string): { readonly left: number; readonly fullAfter: number } {
    const { limit, period } = this.#options;
    const { used } = this.#usageOf(name);
    return { left: limit - used, fullAfter: (used * period) / limit };
  }

  #usageOf(name: string, times = 1, at = this.#options.now()): Usage {
    const { limit, period, refill, maxNames } = this.#options;
    const usage = this.#usages.get(name) ?? { used: 0, at };
    if (refill === 'steady') {
      usage.used = Math.max(0, usage.used - (Math.max(0, at - usage.at) * limit * times) / period);
      // Time that a clock passes twice refills once, unless it was set back by more than a period.
      usage.at = Math.max(at, Math.min(usage.at, at + period));
    } else if (at < usage.at || at - usage.at >= period) {
      usage.used = 0;
      usage.at = at;
    }
    this.#usages.delete(name);
    this.#usages.set(name, usage);
    forgetOldest(this.#usages, maxNames);
    return usage;
  }
}

const namesOf = (of: string | readonly LimitedName[]): readonly LimitedName[] =>
  typeof of === 'string' ? [{ name: of, times: 1 }] : of;
