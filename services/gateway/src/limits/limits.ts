// The limits of a key: requests and tokens, per minute and per UTC day, reported in OpenAI's rate limit headers.

import type { StoredKey, Tier } from '@strata/db';
import { countedCache } from '@strata/http';
import { CompletionError } from '@strata/inference';
import type { Store } from '@strata/store';
import { RateBucket } from './rate-bucket.ts';

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

export interface LimitsDeps extends Pick<Store, 'quota' | 'answers'> {
  readonly now: () => Date;
  readonly tiers?: Readonly<Record<Tier, TierLimits | null>>;
}

interface KeyState {
  readonly limits: TierLimits;
  readonly requests: RateBucket;
  readonly tokens: RateBucket;
  /** Tokens used on a day: the stored count when it was read, plus everything since. */
  day: { readonly name: string; used: number } | undefined;
}

interface Window {
  readonly limit: number;
  readonly remaining: number;
  readonly resetMs: number;
}

type Headers = Readonly<Record<string, string>>;

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

export class Limits {
  readonly #deps: LimitsDeps;
  readonly #tiers: Readonly<Record<Tier, TierLimits | null>>;
  /** An evicted key starts a new minute; daily counts are in the database. */
  readonly #states = countedCache<KeyState>(50_000);

  constructor(deps: LimitsDeps) {
    this.#deps = deps;
    this.#tiers = deps.tiers ?? TIER_LIMITS;
  }

  /** Counts a request. Returns the rate limit headers; throws CompletionError `rate_limit` if a limit is reached. */
  async takeRequest(key: StoredKey): Promise<Headers> {
    const state = this.#stateOf(key);
    if (!state) return {};
    const { limits, requests } = state;
    const now = this.#deps.now();
    const waitMs = requests.take(now.getTime(), 1);
    const ofMinute = windowOf(requests, limits.requestsPerMinute, now);
    if (waitMs > 0)
      throw refusal(`This key's ${limits.requestsPerMinute} requests a minute are used up.`, 'requests', {
        window: ofMinute,
        waitMs,
      });
    if (key.dailyLimit === null) return rateLimitHeaders('requests', ofMinute);
    const { isAllowed, used } = await this.#deps.quota.take(key.id, dayOf(now), key.dailyLimit);
    const ofDay = { limit: key.dailyLimit, remaining: Math.max(0, key.dailyLimit - used), resetMs: restOfDay(now) };
    if (!isAllowed)
      throw refusal(
        `This key's daily quota of ${key.dailyLimit} requests is used up; it resets at 00:00 UTC.`,
        'requests',
        { window: ofDay, waitMs: ofDay.resetMs },
      );
    return rateLimitHeaders('requests', ofDay.remaining <= ofMinute.remaining ? ofDay : ofMinute);
  }

  /**
   * Takes the tokens of a prompt. `spend` takes those of the answer when it ends, so that the next request waits for
   * them. Returns the rate limit headers; throws CompletionError `rate_limit` if a limit is reached.
   */
  async takePrompt(key: StoredKey, promptTokens: number): Promise<Headers> {
    const state = this.#stateOf(key);
    if (!state) return {};
    const { limits, tokens } = state;
    const now = this.#deps.now();
    const used = await this.#usedOn(dayOf(now), key.id, state);
    const ofDay = {
      limit: limits.tokensPerDay,
      remaining: Math.max(0, limits.tokensPerDay - used - promptTokens),
      resetMs: restOfDay(now),
    };
    if (used >= limits.tokensPerDay)
      throw refusal(
        `This key's daily quota of ${limits.tokensPerDay} tokens is used up; it resets at 00:00 UTC.`,
        'tokens',
        { window: ofDay, waitMs: ofDay.resetMs },
      );
    const waitMs = tokens.take(now.getTime(), promptTokens);
    const ofMinute = windowOf(tokens, limits.tokensPerMinute, now);
    if (waitMs > 0)
      throw refusal(
        `This key has ${limits.tokensPerMinute} tokens a minute, of which ${ofMinute.remaining} are left; the prompt needs ${promptTokens}.`,
        'tokens',
        { window: ofMinute, waitMs },
      );
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
    const state = this.#stateOf(key);
    if (!state) return;
    const now = this.#deps.now();
    state.tokens.spend(now.getTime(), completionTokens + Math.max(0, promptTokens - taken));
    const name = dayOf(now);
    // The first answer of a day: the stored count may not include it.
    if (!isReached(state.day, name)) state.day = { name, used: 0 };
    state.day.used += promptTokens + completionTokens;
  }

  #stateOf({ id, tier }: StoredKey): KeyState | undefined {
    const limits = this.#tiers[tier];
    if (!limits) return undefined;
    const known = this.#states.get(id);
    if (known) return known;
    const state = {
      limits,
      requests: new RateBucket(limits.requestsPerMinute, limits.requestsPerMinute / MINUTE_MS),
      tokens: new RateBucket(limits.tokensPerMinute, limits.tokensPerMinute / MINUTE_MS),
      day: undefined,
    };
    this.#states.set(id, state);
    return state;
  }

  async #usedOn(name: string, keyId: string, state: KeyState): Promise<number> {
    if (!isReached(state.day, name)) {
      const used = await this.#deps.answers.tokensOf(keyId, name);
      // Another request may have read the count concurrently, and tokens may have been spent since.
      if (!isReached(state.day, name)) state.day = { name, used };
    }
    return state.day?.used ?? 0;
  }
}

/** A clock that is set back does not start a new day. */
const isReached = (day: KeyState['day'], name: string): day is NonNullable<typeof day> =>
  day !== undefined && day.name >= name;

function windowOf(bucket: RateBucket, limit: number, now: Date): Window {
  const { level, fullAfterMs } = bucket.at(now.getTime());
  return { limit, remaining: Math.max(0, Math.floor(level)), resetMs: fullAfterMs };
}

function rateLimitHeaders(what: 'requests' | 'tokens', { limit, remaining, resetMs }: Window): Headers {
  return {
    [`x-ratelimit-limit-${what}`]: String(limit),
    [`x-ratelimit-remaining-${what}`]: String(remaining),
    [`x-ratelimit-reset-${what}`]: durationText(resetMs),
  };
}

function refusal(
  message: string,
  what: 'requests' | 'tokens',
  { window, waitMs }: { readonly window: Window; readonly waitMs: number },
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
