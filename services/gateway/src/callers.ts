// Who calls, and what is left of the day: the key in the Authorization header, remembered for a moment so that not every
// request asks the database for it.
import { hash } from 'node:crypto';
import { CompletionError } from '@strata/inference';
import type { Store, StoredKey } from '@strata/store';
import { LRUCache } from 'lru-cache';

/** A revocation takes effect within this time. */
const MEMORY_MS = 2_000;

export class Callers {
  readonly #keys: Pick<Store['keys'], 'find'>;
  readonly #quota: Pick<Store['quota'], 'take'>;
  readonly #now: () => Date;
  readonly #known = new LRUCache<string, StoredKey>({ max: 10_000, ttl: MEMORY_MS });

  constructor({ keys, quota }: Pick<Store, 'keys' | 'quota'>, now: () => Date) {
    this.#keys = keys;
    this.#quota = quota;
    this.#now = now;
  }

  /** Throws CompletionError `invalid_api_key` for a key that is missing, unknown or revoked. */
  async identify(authorization: string | undefined): Promise<StoredKey> {
    const presented = /^Bearer +(\S{1,200})$/i.exec(authorization ?? '')?.[1];
    if (!presented) {
      throw new CompletionError('invalid_api_key', "No API key was given. Send it as 'Authorization: Bearer sk-…'.");
    }
    const digest = hash('sha256', presented, 'base64');
    const known = this.#known.get(digest);
    if (known) return known;
    const key = await this.#keys.find(presented);
    if (!key) throw new CompletionError('invalid_api_key', 'This API key is unknown or was revoked.');
    this.#known.set(digest, key);
    return key;
  }

  /** Counts a request against the key's day. Returns the quota headers; throws CompletionError `rate_limit` when it is used up. */
  async count({ id, dailyLimit }: StoredKey): Promise<Record<string, string>> {
    if (dailyLimit === null) return {};
    const now = this.#now();
    const day = now.toISOString().slice(0, 10);
    const resetMs = Date.parse(`${day}T00:00:00Z`) + 86_400_000 - now.getTime();
    const { isAllowed, used } = await this.#quota.take(id, day, dailyLimit);
    const headers = {
      'x-ratelimit-limit-requests': String(dailyLimit),
      'x-ratelimit-remaining-requests': String(Math.max(0, dailyLimit - used)),
      'x-ratelimit-reset-requests': `${Math.ceil(resetMs / 1_000)}s`,
    };
    if (isAllowed) return headers;
    throw new CompletionError(
      'rate_limit',
      `This key's ${dailyLimit} requests of the day are used up; it begins anew at 00:00 UTC.`,
      { retryAfterMs: resetMs, headers },
    );
  }
}
