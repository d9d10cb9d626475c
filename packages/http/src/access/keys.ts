// Who calls, and what is left of the day's quota. Keys and counts come from outside; a short memory keeps the hot path off the database.
import { hash } from 'node:crypto';
import type { LRUCache } from 'lru-cache';
import { type CountedNetwork, countedNetworks } from '../limits/counted-address.ts';
import { countedCache } from '../limits/counted-cache.ts';
import { Refusal } from '../problems/errors.ts';
import type { ApiKey } from '../route.ts';
import { GuessLimit } from './invalid-key-limit.ts';

/** Where keys and counts are kept. */
export interface KeyGate {
  /** The key that was presented, or undefined when it is unknown or revoked. */
  find(presented: string): Promise<ApiKey | undefined>;
  /** Counts one request of a limited key, atomically and durably. `day` is a UTC date, `2026-01-31`. */
  take(keyId: string, day: string, limit: number): Promise<{ readonly isAllowed: boolean; readonly used: number }>;
  /** A number that differs once a key may have been revoked: what is remembered from before holds no more. */
  revision?(): number;
  /** Of these ids of keys, those that are still valid. Called when `revision` differs, for streams that are open. */
  stillValid?(keyIds: readonly string[]): Promise<ReadonlySet<string>>;
}

/** A revocation that the gate does not tell of takes effect within this time. */
const keyMemoryMs = 2_000;
/** Where it tells of them: for when the gate's own news are late or lost. */
const notifiedKeyTtlMs = 30_000;
/** Keys that are in use at once; more are looked up more often. */
const maxKeys = 50_000;
/**
 * While the gate fails, an uncounted key goes on being known for so long since the gate last gave it, else answers in memory
 * would be of no use to its holder; nobody can be told of a revocation meanwhile. The gate is asked anew each `awayMemoryMs`,
 * since a look-up may take seconds to fail.
 */
const lateMemoryMs = 60_000;
const awayMemoryMs = 10_000;
/** A gate that is silent for so long counts as one that fails, for keys that are remembered. */
const patienceMs = 2_000;

const wwwAuthenticate = 'ApiKey realm="strata", header="X-Stack-Key"';

export class KeyCheck {
  readonly #gate: KeyGate;
  readonly #now: () => Date;
  readonly #known: LRUCache<string, ApiKey>;
  /** For when the gate fails. */
  readonly #late: LRUCache<string, ApiKey>;
  /** Apart from the good ones, which a flood of guesses would push out otherwise. */
  readonly #unknown: LRUCache<string, true>;
  readonly #guesses: GuessLimit;
  readonly #asked = new Map<string, Promise<ApiKey>>();
  #revision = 0;

  /** `monotonicNow` in milliseconds: the memory of keys must not live longer because the wall clock was set back. */
  constructor(gate: KeyGate, now: () => Date, monotonicNow: () => number = () => performance.now()) {
    this.#gate = gate;
    this.#now = now;
    const memory = { ttl: keyMemoryMs, ttlResolution: 0, perf: { now: monotonicNow } };
    this.#guesses = new GuessLimit(monotonicNow);
    this.#known = countedCache(maxKeys, { ...memory, ttl: gate.revision ? notifiedKeyTtlMs : keyMemoryMs });
    this.#late = countedCache(maxKeys, { ...memory, ttl: lateMemoryMs });
    this.#unknown = countedCache(10_000, memory);
  }

  /**
   * The caller's key: at once when it was seen moments ago. Refuses a missing, repeated, unknown or revoked one, and any that
   * was not good lately from an address that has presented too many.
   */
  identify(header: string | string[] | undefined, from = 'unknown'): ApiKey | Promise<ApiKey> {
    if (header === undefined || header === '') {
      throw unauthorized('missing_key');
    }
    // Node joins repeated headers with a comma; no key holds one.
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

  /** Asks the gate, once for all requests that present the key meanwhile. A failure of the gate is not remembered. */
  async #find(
    header: string,
    { digest, networks }: { digest: string; networks: readonly CountedNetwork[] },
  ): Promise<ApiKey> {
    const revision = this.#gate.revision?.();
    let key: ApiKey | undefined;
    try {
      key = await this.#found(header, digest);
    } catch (error) {
      this.#guesses.undecided(networks);
      this.#forgetRevoked();
      const late = this.#late.get(digest);
      if (late === undefined) throw error;
      this.#known.set(digest, late, {
        // 0 would be for ever.
        ttl: Math.max(1, Math.min(awayMemoryMs, this.#late.getRemainingTTL(digest))),
      });
      return late;
    }
    if (key) {
      // One that was revoked while it was looked for is not remembered.
      if (revision === this.#gate.revision?.()) {
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

  /** Rejects as the gate does, and where it is silent about a key that is remembered; what it says too late still counts. */
  async #found(header: string, digest: string): Promise<ApiKey | undefined> {
    const finding = this.#gate.find(header);
    if (!this.#late.has(digest)) return finding;
    let timer: NodeJS.Timeout | undefined;
    const silent = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new Error(`the keys were not answered for within ${patienceMs} ms`));
        finding.then(
          (key) => key ?? this.#forget(digest),
          () => {},
        );
      }, patienceMs);
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

  /** Whether the key was seen moments ago and has no limit that a request would count against. */
  isKnownUncounted(header: string | string[] | undefined): boolean {
    if (typeof header !== 'string' || header.length > 200) return false;
    this.#forgetRevoked();
    return this.#known.get(digestOf(header))?.dailyLimit === null;
  }

  #forgetRevoked(): void {
    const revision = this.#gate.revision?.() ?? 0;
    if (revision === this.#revision) return;
    this.#revision = revision;
    this.#known.clear();
    this.#late.clear();
    // Who asks for one of these now may get what was found before.
    this.#asked.clear();
  }

  /** Counts the request. Returns the quota headers; refuses when the day's quota is used up. */
  async count(key: ApiKey): Promise<Record<string, string>> {
    if (key.dailyLimit === null) return {};
    const now = this.#now();
    const day = now.toISOString().slice(0, 10);
    const resetSeconds = Math.ceil((Date.parse(`${day}T00:00:00Z`) + 86_400_000 - now.getTime()) / 1_000);
    const { isAllowed, used } = await this.#gate.take(key.id, day, key.dailyLimit);
    const headers = quotaHeaders({ tier: key.tier, limit: key.dailyLimit, used, resetSeconds });
    if (isAllowed) return headers;
    throw new Refusal(
      'quota_exceeded',
      `This key's daily quota of ${key.dailyLimit} requests is used up; it resets at 00:00 UTC.`,
      { headers: { ...headers, 'retry-after': String(resetSeconds) } },
    );
  }
}

/** Keys are remembered hashed, so that a heap dump holds none. */
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
    'Too many invalid keys from this address, its network or all clients; wait a moment.',
    {
      headers: { 'retry-after': String(waitSeconds) },
    },
  );
}
