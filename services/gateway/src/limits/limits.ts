// The limits of a key: requests and tokens, per minute and per UTC day, reported in OpenAI's rate limit headers.

import type { Tier } from '@strata/db';
import { CompletionError } from '@strata/inference';
import { type Charge, DAY_MS, dayOf, type GatewayKey } from '../store/access/policy.ts';
import type { GatewayStore } from '../store/index.ts';
import type { MinuteLimit } from '../store/minute-usage.ts';
import type { Budgeted, Budgets } from './budgets.ts';
import { localMinuteLimiter, type MinuteLimiter, type MinuteState } from './minute-limiter.ts';
import type { PlannedTokens, TokenQuota } from './token-quota.ts';

interface TierLimits {
  readonly requestsPerMinute: number;
  readonly tokensPerMinute: number;
  readonly tokensPerDay: number;
}

/** The limit of requests per day is a property of the key. Null is unlimited. */
export const TIER_LIMITS = {
  free: { requestsPerMinute: 20, tokensPerMinute: 20_000, tokensPerDay: 100_000 },
  standard: { requestsPerMinute: 600, tokensPerMinute: 1_000_000, tokensPerDay: 50_000_000 },
  unlimited: null,
} as const satisfies Record<Tier, TierLimits | null>;

export interface LimitsDeps extends Pick<GatewayStore, 'quota'> {
  readonly tokens: TokenQuota;
  /** The limits of policies, in addition to those of the tier. */
  readonly budgets?: Budgets;
  /** In memory by default. */
  readonly minutes?: ((limit: MinuteLimit) => MinuteLimiter) | undefined;
  readonly now: () => Date;
  readonly tiers?: Readonly<Record<Tier, TierLimits | null>>;
}

/** The limits of a tier, and what its keys have used of them in the last minute. */
interface TierState {
  readonly limits: TierLimits;
  readonly requests: MinuteLimiter;
  readonly tokens: MinuteLimiter;
}

/** Tokens that were taken before the work. */
export interface Reservation {
  /** The rate limit headers. */
  readonly headers: Headers;
  /** How its receipt is charged; undefined for a model without a price and a key without limits of its own. */
  readonly charge?: Charge | undefined;
  /**
   * Replaces the reserved tokens by those that were used, and what they may cost by what they do: 0 without any work. Called
   * once, with the time of the receipt: both count on the same day. Returns a function that releases those of the day too,
   * for an answer that is not recorded.
   */
  readonly settle: (usedTokens: number, micros?: number, endedAt?: Date) => () => void;
}

interface Window {
  readonly limit: number;
  readonly remaining: number;
  readonly resetMs: number;
}

type Limited = 'requests' | 'tokens';
type Headers = Readonly<Record<string, string>>;

const UNLIMITED: Reservation = { headers: {}, settle: () => () => {} };

export class Limits {
  readonly #deps: LimitsDeps;
  readonly #tiers: Readonly<Record<Tier, TierState | null>>;

  constructor(deps: LimitsDeps) {
    this.#deps = deps;
    const tiers = deps.tiers ?? TIER_LIMITS;
    const { minutes = (of) => localMinuteLimiter(of, () => deps.now().getTime()) } = deps;
    const stateOf = (limits: TierLimits | null) =>
      limits && {
        limits,
        requests: minutes({ name: 'requests', limit: limits.requestsPerMinute }),
        tokens: minutes({ name: 'tokens', limit: limits.tokensPerMinute }),
      };
    this.#tiers = {
      free: stateOf(tiers.free),
      standard: stateOf(tiers.standard),
      unlimited: stateOf(tiers.unlimited),
    };
  }

  /** Whether a key has limits of its tier. */
  areOf({ tier }: Pick<GatewayKey, 'tier'>): boolean {
    return this.#tiers[tier] !== null;
  }

  /** Counts a request. Returns the rate limit headers; throws CompletionError `rate_limit` if a limit is reached. */
  async takeRequest(key: GatewayKey): Promise<Headers> {
    const tier = this.#tiers[key.tier];
    if (!tier) return {};
    const { limits, requests } = tier;
    const now = this.#deps.now();
    const taken = await requests.take(key.id, 1);
    const ofMinute = windowOf(taken, limits.requestsPerMinute);
    if ('waitMs' in taken)
      throw refusal('requests', {
        ...{ window: ofMinute, waitMs: taken.waitMs },
        message: `This key's ${limits.requestsPerMinute} requests a minute are used up.`,
      });
    taken.settle(1);
    if (key.dailyLimit === null) return rateLimitHeaders('requests', ofMinute);
    const { isAllowed, used } = await this.#deps.quota.take(key.id, dayOf(now), key.dailyLimit);
    const ofDay = dayWindow(key.dailyLimit, used, now);
    if (!isAllowed) throw usedUp('requests', ofDay);
    return rateLimitHeaders('requests', ofDay.remaining <= ofMinute.remaining ? ofDay : ofMinute);
  }

  /** Reserves an answer that another gateway has admitted, whatever the limits. */
  reserveAgain(key: GatewayKey, planned: PlannedTokens, charge?: Charge): Pick<Reservation, 'settle'> {
    const ofTier = this.#reserveTierAgain(key, planned);
    const budgeted = charge && this.#deps.budgets?.reserveAgain(charge, planned);
    return budgeted ? both({ headers: {}, ...ofTier }, budgeted) : ofTier;
  }

  /**
   * Reserves the tokens of a prompt and the maximum of its answer, so that concurrent requests share what is
   * left, of the key's tier and of the policies of the key and its team. Throws CompletionError `rate_limit` or
   * `insufficient_quota` if a limit is reached, or is smaller than the request.
   */
  async reserve(key: GatewayKey, planned: PlannedTokens, model?: string): Promise<Reservation> {
    const { budgets } = this.#deps;
    if (model === undefined || !budgets?.concern(key, model))
      return this.areOf(key) ? this.#reserveTier(key, planned) : UNLIMITED;
    const ofTier = await this.#reserveTier(key, planned);
    try {
      const budgeted = await budgets.reserve(key, planned, model);
      return budgeted ? both(ofTier, budgeted) : ofTier;
    } catch (error) {
      ofTier.settle(0);
      throw error;
    }
  }

  #reserveTierAgain(key: GatewayKey, { promptTokens, answerTokens }: PlannedTokens): Pick<Reservation, 'settle'> {
    const tier = this.#tiers[key.tier];
    if (!tier) return { settle: () => () => {} };
    const of = { keyId: key.id, day: dayOf(this.#deps.now()) };
    const taken = this.#deps.tokens.takeAnyway(of, promptTokens + answerTokens);
    return {
      settle: (usedTokens, _micros, endedAt = this.#deps.now()) => taken.settle(usedTokens, dayOf(endedAt)),
    };
  }

  async #reserveTier(key: GatewayKey, { promptTokens, answerTokens }: PlannedTokens): Promise<Reservation> {
    const tier = this.#tiers[key.tier];
    if (!tier) return UNLIMITED;
    const { limits, tokens } = tier;
    const planned = promptTokens + answerTokens;
    const needs = `the request needs ${planned} (${promptTokens} of the prompt, at most ${answerTokens} of the answer)`;
    const now = this.#deps.now();
    const limit = limits.tokensPerDay;
    const taken = await this.#deps.tokens.take({ keyId: key.id, day: dayOf(now), limit }, planned);
    const ofDay = dayWindow(limit, taken.used, now);
    if (!('settle' in taken)) {
      if (ofDay.remaining === 0) throw usedUp('tokens', ofDay);
      throw refusal('tokens', {
        ...{ window: ofDay, waitMs: ofDay.resetMs, isRetried: planned <= limit },
        message: `This key has ${limit} tokens a day, of which ${ofDay.remaining} are left; ${needs}.`,
      });
    }
    const settle = (usedTokens: number, endedAt = this.#deps.now()) => taken.settle(usedTokens, dayOf(endedAt));
    const isTooLarge = planned > limits.tokensPerMinute;
    const takenOfMinute = await tokens.take(key.id, isTooLarge ? 0 : planned).catch((error: unknown) => {
      settle(0);
      throw error;
    });
    const ofMinute = windowOf(takenOfMinute, limits.tokensPerMinute);
    const refused = (waitMs: number, message: string) => {
      settle(0);
      return refusal('tokens', { window: ofMinute, waitMs, isRetried: waitMs > 0, message });
    };
    const perMinute = `This key has ${limits.tokensPerMinute} tokens a minute`;
    if ('waitMs' in takenOfMinute)
      throw refused(takenOfMinute.waitMs, `${perMinute}, of which ${ofMinute.remaining} are left; ${needs}.`);
    if (isTooLarge) {
      takenOfMinute.settle(0);
      throw refused(0, `${perMinute}; ${needs}.`);
    }
    return {
      headers: rateLimitHeaders('tokens', ofDay.remaining <= ofMinute.remaining ? ofDay : ofMinute),
      settle: (usedTokens, _micros, endedAt) => {
        takenOfMinute.settle(usedTokens);
        // An answer counts on the day on which it ends.
        return settle(usedTokens, endedAt);
      },
    };
  }
}

function both({ headers, settle }: Reservation, budgeted: Budgeted): Reservation {
  return {
    headers,
    charge: budgeted.charge,
    settle: (usedTokens, micros = 0, endedAt) => {
      const releases = [settle(usedTokens, micros, endedAt), budgeted.settle(usedTokens, micros, endedAt)];
      return () => {
        for (const release of releases) release();
      };
    },
  };
}

const windowOf = ({ left, resetMs }: MinuteState, limit: number): Window => ({
  ...{ limit, remaining: Math.max(0, Math.floor(left)), resetMs },
});

const dayWindow = (limit: number, used: number, now: Date): Window => ({
  ...{ limit, remaining: Math.max(0, limit - used), resetMs: restOfDay(now) },
});

function rateLimitHeaders(what: Limited, { limit, remaining, resetMs }: Window): Headers {
  return {
    [`x-ratelimit-limit-${what}`]: String(limit),
    [`x-ratelimit-remaining-${what}`]: String(remaining),
    [`x-ratelimit-reset-${what}`]: durationText(resetMs),
  };
}

const usedUp = (what: Limited, window: Window): CompletionError =>
  refusal(what, {
    ...{ window, waitMs: window.resetMs },
    message: `This key's daily quota of ${window.limit} ${what} is used up; it resets at 00:00 UTC.`,
  });

function refusal(
  what: Limited,
  {
    message,
    window,
    waitMs,
    isRetried = true,
  }: { readonly message: string; readonly window: Window; readonly waitMs: number; readonly isRetried?: boolean },
): CompletionError {
  const headers = rateLimitHeaders(what, { ...window, remaining: 0 });
  // OpenAI's clients send a request again unless this header says that it cannot succeed.
  if (!isRetried)
    return new CompletionError('rate_limit', message, { headers: { ...headers, 'x-should-retry': 'false' } });
  return new CompletionError('rate_limit', message, { retryAfterMs: Math.ceil(waitMs), headers });
}

/** Milliseconds until the next UTC day. */
export const restOfDay = (now: Date): number => DAY_MS - (now.getTime() % DAY_MS);

/** The format of OpenAI's headers: `6m0s`, `1h0m0s`, `20ms`. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.ceil(ms)}ms`;
  const seconds = Math.ceil(ms / 1_000);
  const [h, m, s] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  return h > 0 ? `${h}h${m}m${s}s` : m > 0 ? `${m}m${s}s` : `${s}s`;
}
