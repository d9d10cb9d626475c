// The limits of a key: requests and tokens, per minute and per UTC day, reported in OpenAI's rate limit headers.

import type { StoredKey, Tier } from '@strata/db';
import { countedCache } from '@strata/http';
import { CompletionError } from '@strata/inference';
import { RateLimiter } from '@strata/limits';
import type { GatewayStore } from '../store/index.ts';

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

export interface LimitsDeps extends Pick<GatewayStore, 'quota' | 'answers'> {
  readonly now: () => Date;
  readonly tiers?: Readonly<Record<Tier, TierLimits | null>>;
}

/** The limits of a tier, and what its keys have used of them in the last minute. */
interface TierState {
  readonly limits: TierLimits;
  readonly requests: RateLimiter;
  readonly tokens: RateLimiter;
}

/** Tokens that a key has used on a day: the stored count when it was read, plus everything since. */
interface UsedOnDay {
  readonly name: string;
  used: number;
}

interface Window {
  readonly limit: number;
  readonly remaining: number;
  readonly resetMs: number;
}

type Limited = 'requests' | 'tokens';
type Headers = Readonly<Record<string, string>>;

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

export class Limits {
  readonly #deps: LimitsDeps;
  readonly #tiers: Readonly<Record<Tier, TierState | null>>;
  /** By key. Daily counts are in the database too. */
  readonly #days = countedCache<UsedOnDay>(50_000);

  constructor(deps: LimitsDeps) {
    this.#deps = deps;
    const tiers = deps.tiers ?? TIER_LIMITS;
    const limiter = (limit: number) =>
      new RateLimiter({ limit, period: MINUTE_MS, refill: 'steady', now: () => deps.now().getTime() });
    const stateOf = (limits: TierLimits | null) =>
      limits && { limits, requests: limiter(limits.requestsPerMinute), tokens: limiter(limits.tokensPerMinute) };
    this.#tiers = {
      free: stateOf(tiers.free),
      standard: stateOf(tiers.standard),
      unlimited: stateOf(tiers.unlimited),
    };
  }

  /** Counts a request. Returns the rate limit headers; throws CompletionError `rate_limit` if a limit is reached. */
  async takeRequest(key: StoredKey): Promise<Headers> {
    const tier = this.#tiers[key.tier];
    if (!tier) return {};
    const { limits, requests } = tier;
    const now = this.#deps.now();
    const waitMs = requests.take(key.id);
    const ofMinute = windowOf(requests, limits.requestsPerMinute, key);
    if (waitMs > 0)
      throw refusal('requests', {
        ...{ window: ofMinute, waitMs },
        message: `This key's ${limits.requestsPerMinute} requests a minute are used up.`,
      });
    if (key.dailyLimit === null) return rateLimitHeaders('requests', ofMinute);
    const { isAllowed, used } = await this.#deps.quota.take(key.id, dayOf(now), key.dailyLimit);
    const ofDay = dayWindow(key.dailyLimit, used, now);
    if (!isAllowed) throw usedUp('requests', ofDay);
    return rateLimitHeaders('requests', ofDay.remaining <= ofMinute.remaining ? ofDay : ofMinute);
  }

  /**
   * Takes the tokens of a prompt. `spend` takes those of the answer when it ends, so that the next request waits for
   * them. Returns the rate limit headers; throws CompletionError `rate_limit` if a limit is reached.
   */
  async takePrompt(key: StoredKey, promptTokens: number): Promise<Headers> {
    const tier = this.#tiers[key.tier];
    if (!tier) return {};
    const { limits, tokens } = tier;
    const now = this.#deps.now();
    const used = await this.#usedOn(dayOf(now), key.id);
    const ofDay = dayWindow(limits.tokensPerDay, used + promptTokens, now);
    if (used >= limits.tokensPerDay) throw usedUp('tokens', ofDay);
    const waitMs = tokens.take(key.id, promptTokens);
    const ofMinute = windowOf(tokens, limits.tokensPerMinute, key);
    if (waitMs > 0)
      throw refusal('tokens', {
        ...{ window: ofMinute, waitMs },
        message: `This key has ${limits.tokensPerMinute} tokens a minute, of which ${ofMinute.remaining} are left; the prompt needs ${promptTokens}.`,
      });
    return rateLimitHeaders('tokens', ofDay.remaining <= ofMinute.remaining ? ofDay : ofMinute);
  }

  /**
   * Takes the tokens that an answer used in addition to those taken for its prompt, and counts all of them for the day.
   */
  spend(
    key: StoredKey,
    { promptTokens, completionTokens }: { readonly promptTokens: number; readonly completionTokens: number },
    taken = promptTokens,
  ): void {
    const tier = this.#tiers[key.tier];
    if (!tier) return;
    tier.tokens.spend(key.id, completionTokens + Math.max(0, promptTokens - taken));
    // The first answer of a day: the stored count may not include it.
    this.#day(key.id, dayOf(this.#deps.now()), 0).used += promptTokens + completionTokens;
  }

  async #usedOn(name: string, keyId: string): Promise<number> {
    const known = this.#days.get(keyId);
    if (known && known.name >= name) return known.used;
    const used = await this.#deps.answers.tokensOf(keyId, name);
    // Another request may have read the count concurrently, and tokens may have been spent since.
    return this.#day(keyId, name, used).used;
  }

  /** The known usage of a key, or this one on a new day. A clock that is set back does not start a new day. */
  #day(keyId: string, name: string, used: number): UsedOnDay {
    const known = this.#days.get(keyId);
    if (known && known.name >= name) return known;
    const day = { name, used };
    this.#days.set(keyId, day);
    return day;
  }
}

function windowOf(limiter: RateLimiter, limit: number, { id }: StoredKey): Window {
  const { left, fullAfter } = limiter.state(id);
  return { limit, remaining: Math.max(0, Math.floor(left)), resetMs: fullAfter };
}

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
  { message, window, waitMs }: { readonly message: string; readonly window: Window; readonly waitMs: number },
): CompletionError {
  return new CompletionError('rate_limit', message, {
    retryAfterMs: Math.ceil(waitMs),
    headers: rateLimitHeaders(what, { ...window, remaining: 0 }),
  });
}

const dayOf = (now: Date): string => now.toISOString().slice(0, 10);
/** Milliseconds until the next UTC day. */
export const restOfDay = (now: Date): number => DAY_MS - (now.getTime() % DAY_MS);

/** The format of OpenAI's headers: `6m0s`, `1h0m0s`, `20ms`. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.ceil(ms)}ms`;
  const seconds = Math.ceil(ms / 1_000);
  const [h, m, s] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  return h > 0 ? `${h}h${m}m${s}s` : m > 0 ? `${m}m${s}s` : `${s}s`;
}
