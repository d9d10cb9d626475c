// Limits a minute, refilled steadily: of the only gateway of a database in memory, of several ones in the database, in blocks.
import { RateLimiter } from '@strata/limits';
import type { MinuteLimit, MinuteUsage } from '../store/minute-usage.ts';
import { TokenQuota } from './token-quota.ts';

export interface MinuteState {
  readonly left: number;
  /** Time until all of the limit is available again. */
  readonly resetMs: number;
}

export type TakenOfMinute = MinuteState &
  (
    | { readonly waitMs: number }
    /** Called once: replaces the amount by what was used. */
    | { readonly settle: (used: number) => void }
  );

export interface MinuteLimiter {
  /** Takes an amount, at most the limit, or nothing and says when it is available. Rejects with StoreError. */
  take(keyId: string, amount: number): Promise<TakenOfMinute>;
}

const MINUTE_MS = 60_000;

export function localMinuteLimiter({ limit }: MinuteLimit, nowMs: () => number): MinuteLimiter {
  const limiter = new RateLimiter({ limit, period: MINUTE_MS, refill: 'steady', now: nowMs });
  return {
    async take(keyId, amount) {
      const waitMs = limiter.take(keyId, amount);
      const { left, fullAfter: resetMs } = limiter.state(keyId);
      if (waitMs > 0) return { left, resetMs, waitMs };
      const settle = (used: number) => {
        if (used < amount) limiter.refund(keyId, amount - used);
        else limiter.spend(keyId, used - amount);
      };
      return { left, resetMs, settle };
    },
  };
}

export class SharedMinuteLimiter implements MinuteLimiter, Disposable {
  readonly #limit: number;
  readonly #quota: TokenQuota;

  constructor(usage: MinuteUsage, of: MinuteLimit) {
    this.#limit = of.limit;
    // Its reservations are those of no gateway: they end with time.
    this.#quota = new TokenQuota({ reservations: usage.of(of), gateway: () => 0, isReturnedSoon: true });
  }

  async take(keyId: string, amount: number): Promise<TakenOfMinute> {
    const limit = this.#limit;
    const taken = await this.#quota.take({ keyId, day: ALWAYS, limit }, amount);
    const state = { left: limit - taken.used, resetMs: (taken.used * MINUTE_MS) / limit };
    if ('settle' in taken) return { ...state, settle: (used) => void taken.settle(used, ALWAYS) };
    return { ...state, waitMs: Math.max(1, ((amount - state.left) * MINUTE_MS) / limit) };
  }

  [Symbol.dispose](): void {
    this.#quota[Symbol.dispose]();
  }
}

/** The day of all reservations. */
const ALWAYS = '';
