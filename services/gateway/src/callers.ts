// Who calls: the key in the Authorization header, remembered for a moment so that not every request asks the database for it.
import { hash } from 'node:crypto';
import { countedAddress, GuessLimit } from '@strata/http';
import { CompletionError } from '@strata/inference';
import type { Store, StoredKey } from '@strata/store';
import { LRUCache } from 'lru-cache';

/** A revocation takes effect within this time. */
const MEMORY_MS = 2_000;

export class Callers {
  readonly #keys: Pick<Store['keys'], 'find'>;
  readonly #known = new LRUCache<string, StoredKey>({ max: 10_000, ttl: MEMORY_MS });
  readonly #guesses = new GuessLimit();
  readonly #missing: string;

  constructor({ keys }: Pick<Store, 'keys'>, { areKeysFree }: { readonly areKeysFree: boolean }) {
    this.#keys = keys;
    this.#missing = `No API key was given. Send it as 'Authorization: Bearer sk-…'.${areKeysFree ? ' POST /keys gives a free one.' : ''}`;
  }

  /**
   * Throws CompletionError `invalid_api_key` for a key that is missing, unknown or revoked, and `rate_limit` for one that was
   * not good lately from an address that has presented too many.
   */
  async identify(authorization: string | undefined, from: string): Promise<StoredKey> {
    const presented = /^Bearer +(\S{1,200})$/i.exec(authorization ?? '')?.[1];
    if (!presented) throw new CompletionError('invalid_api_key', this.#missing);
    const digest = hash('sha256', presented, 'base64');
    const known = this.#known.get(digest);
    if (known) return known;
    const address = countedAddress(from);
    const waitSeconds = this.#guesses.try(address, digest);
    if (waitSeconds > 0)
      throw new CompletionError('rate_limit', 'This address has presented too many keys that are none.', {
        retryAfterMs: waitSeconds * 1_000,
      });
    const key = await this.#keys.find(presented).catch((error: unknown) => {
      this.#guesses.undecided(address);
      throw error;
    });
    if (!key) {
      this.#guesses.missed(digest);
      throw new CompletionError('invalid_api_key', unknownText(presented));
    }
    this.#guesses.found(address, digest);
    this.#known.set(digest, key);
    return key;
  }
}

function unknownText(presented: string): string {
  if (presented.startsWith('ssk_')) return 'This is a key of the stack service; those of this one begin with sk-.';
  return 'This API key is unknown or was revoked.';
}
