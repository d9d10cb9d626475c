// Authenticates callers and counts their daily quota. Keys and counts are stored elsewhere; a short-lived cache keeps
// the hot path off the database.
import { hash } from 'node:crypto';
import type { LRUCache } from 'lru-cache';
import { type CountedNetwork, countedNetworks } from '../limits/counted-address.ts';
import { countedCache } from '../limits/counted-cache.ts';
import { Refusal } from '../problems/errors.ts';
import type { ApiKey } from '../route.ts';
import { InvalidKeyLimit } from './invalid-key-limit.ts';

/** Storage of keys and counts. */
export interface KeyGate {
  /** The presented key, or undefined if it is unknown or revoked. */
  find(presented: string): Promise<ApiKey | undefined>;
  /** Counts requests of a limited key, all or none, atomically and durably. `day` is a UTC date, `2026-01-31`. */
  take(
    keyId: string,
    day: string,
    limit: number,
    requests: number,
  ): Promise<{ readonly isAllowed: boolean; readonly used: number }>;
  /** Requests of the key counted so far that day. */
  used(keyId: string, day: string): Promise<number>;
  /** Changes when a key may have been revoked: older cache entries are then invalid. */
  revision(): number;
  /** The subset of these key ids that is still valid. Called for open streams when `revision` changes. */
  stillValid(keyIds: readonly string[]): Promise<ReadonlySet<string>>;
}

/** Covers late or lost notifications of revocations. */
const keyMemoryMs = 30_000;
/** For unknown keys. */
const unknownMemoryMs = 2_000;
/** Keys in use at once; above this number, lookups become more frequent. */
const maxKeys = 50_000;
/**
 * While the gate fails, an uncounted key stays valid for this long after its last successful lookup; otherwise cached
 * responses would be of no use. No revocation can be received during that time. The gate is retried every
 * `awayMemoryMs`, because a failing lookup may take seconds.
 */
const lateMemoryMs = 60_000;
const awayMemoryMs = 10_000;
/** A gate that does not answer within this time counts as failed, for cached keys. */
const gateTimeoutMs = 2_000;

const wwwAuthenticate = 'ApiKey realm="strata", header="X-Stack-Key"';

export class KeyCheck {
  readonly #gate: KeyGate;
  readonly #now: () => Date;
  readonly #known: LRUCache<string, ApiKey>;
  /** Used while the gate fails. */
  readonly #late: LRUCache<string, ApiKey>;
  /** Separate from the valid keys, which a flood of guesses would evict otherwise. */
  readonly #unknown: LRUCache<string, true>;
  readonly #guesses: InvalidKeyLimit;
  readonly #asked = new Map<string, Promise<ApiKey>>();
  #revision = 0;

  /** `monotonicNow` in milliseconds: setting the wall clock back must not extend the life of cached keys. */
  constructor(gate: KeyGate, now: () => Date, monotonicNow: () => number = () => performance.now()) {
    this.#gate = gate;
    this.#now = now;
    const clock = { ttlResolution: 0, perf: { now: monotonicNow } };
    this.#guesses = new InvalidKeyLimit(monotonicNow);
    this.#known = countedCache(maxKeys, { ...clock, ttl: keyMemoryMs });
    this.#late = countedCache(maxKeys, { ...clock, ttl: lateMemoryMs });
    this.#unknown = countedCache(10_000, { ...clock, ttl: unknownMemoryMs });
  }

  /**
   * The caller's key: synchronously if it is cached. Refuses a missing, repeated, unknown or revoked key, and, from an
   * address that has presented too many invalid keys, any key that was not valid recently.
   */
  identify(header: string | string[] | undefined, from = 'unknown'): ApiKey | Promise<ApiKey> {
    if (header === undefined || header === '') {
      throw unauthorized('missing_key');
    }
    // Node joins repeated headers with a comma; keys contain no comma.
    if (typeof header !== 'string' || header.length > 200 || header.includes(',')) throw invalid();
    const digest = digestOf(header);
    this.#forgetRevoked();
    const known = this.#known.get(digest);
    if (known) return known;
    if (this.#unknown.has(digest)) throw invalid();
    const running = this.#asked.get(digest);
    if (running) return running;
    const networks = countedNetworks(from);
    const waitSeconds = this.#guesses.try(networks, digest);
    if (waitSeconds > 0) throw tooManyGuesses(waitSeconds);
    const asked = this.#find(header, { digest, networks }).finally(() => {
      if (this.#asked.get(digest) === asked) this.#asked.delete(digest);
    });
    this.#asked.set(digest, asked);
    return asked;
  }

  /** Queries the gate once for all concurrent requests with the key. A failure of the gate is not cached. */
  async #find(
    header: string,
    { digest, networks }: { digest: string; networks: readonly CountedNetwork[] },
  ): Promise<ApiKey> {
    const revision = this.#gate.revision();
    let key: ApiKey | undefined;
    try {
      key = await this.#found(header, digest);
    } catch (error) {
      this.#guesses.undecided(networks);
      this.#forgetRevoked();
      const late = this.#late.get(digest);
      if (late === undefined) throw error;
      this.#known.set(digest, late, {
        // 0 would mean no expiry.
        ttl: Math.max(1, Math.min(awayMemoryMs, this.#late.getRemainingTTL(digest))),
      });
      return late;
    }
    if (key) {
      // A key that was revoked during the lookup is not cached.
      if (revision === this.#gate.revision()) {
        this.#known.set(digest, key);
        if (key.dailyLimit === null) this.#late.set(digest, key);
      }
      this.#guesses.found(networks, digest);
      return key;
    }
    this.#unknown.set(digest, true);
    this.#late.delete(digest);
    this.#guesses.missed(digest);
    throw invalid();
  }

  /** Rejects as the gate does, and on a timeout for a cached key; a late answer is still recorded. */
  async #found(header: string, digest: string): Promise<ApiKey | undefined> {
    const finding = this.#gate.find(header);
    if (!this.#late.has(digest)) return finding;
    let timer: NodeJS.Timeout | undefined;
    const silent = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new Error(`the key lookup took longer than ${gateTimeoutMs} ms`));
        finding.then(
          (key) => key ?? this.#forget(digest),
          () => {},
        );
      }, gateTimeoutMs);
    });
    try {
      return await Promise.race([finding, silent]);
    } finally {
      clearTimeout(timer);
    }
  }

  #forget(digest: string): void {
    this.#late.delete(digest);
    this.#known.delete(digest);
  }

  /** The key if it is cached and has no limit that a request would count against. */
  knownUncounted(header: string | string[] | undefined): ApiKey | undefined {
    if (typeof header !== 'string' || header.length > 200) return undefined;
    this.#forgetRevoked();
    const key = this.#known.get(digestOf(header));
    return key?.dailyLimit === null ? key : undefined;
  }

  #forgetRevoked(): void {
    const revision = this.#gate.revision();
    if (revision === this.#revision) return;
    this.#revision = revision;
    this.#known.clear();
    this.#late.clear();
    // Requests that start now must not get the result of a lookup that began before the revocation.
    this.#asked.clear();
  }

  /**
   * Counts an answer as a number of requests, 0 if it is free. Returns the quota headers; refuses it if fewer requests
   * are left today.
   */
  async count(key: ApiKey, requests = 1): Promise<Record<string, string>> {
    if (key.dailyLimit === null) return {};
    const now = this.#now();
    const day = now.toISOString().slice(0, 10);
    const resetSeconds = Math.ceil((Date.parse(`${day}T00:00:00Z`) + 86_400_000 - now.getTime()) / 1_000);
    const { isAllowed, used } =
      requests === 0
        ? { isAllowed: true, used: await this.#gate.used(key.id, day) }
        : await this.#gate.take(key.id, day, key.dailyLimit, requests);
    const headers = quotaHeaders({ tier: key.tier, limit: key.dailyLimit, used, resetSeconds });
    if (isAllowed) return headers;
    const left = Math.max(0, key.dailyLimit - used);
    throw new Refusal(
      'quota_exceeded',
      left === 0
        ? `The daily quota of ${key.dailyLimit} requests of this key is used up. It resets at 00:00 UTC.`
        : `This costs ${requests} requests, and ${left} of the ${key.dailyLimit} per day of this key are left. The quota resets at 00:00 UTC.`,
      { headers: { ...headers, 'retry-after': String(resetSeconds) } },
    );
  }
}

/** Keys are cached hashed, so that a heap dump contains none. */
function digestOf(header: string): string {
  return hash('sha256', header, 'base64');
}

/** Quota fields of the IETF draft (draft-ietf-httpapi-ratelimit-headers) and the older X-RateLimit-* ones. */
function quotaHeaders(quota: { tier: string; limit: number; used: number; resetSeconds: number }) {
  const remaining = String(Math.max(0, quota.limit - quota.used));
  return {
    'ratelimit-policy': `"${quota.tier}";q=${quota.limit};w=86400`,
    ratelimit: `"${quota.tier}";r=${remaining};t=${quota.resetSeconds}`,
    'x-ratelimit-limit': String(quota.limit),
    'x-ratelimit-remaining': remaining,
    'x-ratelimit-reset': String(quota.resetSeconds),
  };
}

function unauthorized(code: 'missing_key' | 'invalid_key'): Refusal {
  return new Refusal(code, undefined, { headers: { 'www-authenticate': wwwAuthenticate } });
}

const invalid = () => unauthorized('invalid_key');

function tooManyGuesses(waitSeconds: number): Refusal {
  return new Refusal(
    'quota_exceeded',
    'Too many invalid keys from this address, its network or all clients. Try again later.',
    {
      headers: { 'retry-after': String(waitSeconds) },
    },
  );
}
