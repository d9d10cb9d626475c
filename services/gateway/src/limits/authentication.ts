// Authentication: the key in the Authorization header, cached briefly so that not every request queries the database,
// and the end of requests whose key is revoked.
import { hash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { countedCache, countedNetworks, FailureLog, InvalidKeyLimit } from '@strata/http';
import { CompletionError } from '@strata/inference';
import type { Logger } from 'pino';
import type { GatewayKey } from '../store/access/policy.ts';
import type { GatewayStore } from '../store/index.ts';

/** A revocation takes effect within this time even if `endRevoked` is not called. */
const MEMORY_MS = 2_000;

/** The key of a request, for as long as the request is open. */
export interface OpenCaller {
  readonly key: GatewayKey;
  /** Aborts with CompletionError `invalid_api_key` when the key is revoked. */
  readonly revoked: AbortSignal;
}

/** A response whose key was revoked has this long to send the error, also to a client that does not read. */
const REVOKED_GRACE_MS = 500;

export class Authentication {
  readonly #keys: Pick<GatewayStore['keys'], 'find' | 'stillValid'>;
  /** What ends open requests, by key id. */
  readonly #open = new Map<string, Set<(revoked: CompletionError) => void>>();
  /** Changes whenever keys may have been revoked. */
  #revision = 0;
  readonly #known = countedCache<GatewayKey>(10_000, { ttl: MEMORY_MS });
  readonly #guesses = new InvalidKeyLimit();
  readonly #missing: string;
  readonly #now: () => Date;

  constructor(
    { keys }: { readonly keys: Pick<GatewayStore['keys'], 'find' | 'stillValid'> },
    { areKeysFree, now = () => new Date() }: { readonly areKeysFree: boolean; readonly now?: () => Date },
  ) {
    this.#now = now;
    this.#keys = keys;
    this.#missing = `No API key was given. Send it as 'Authorization: Bearer sk-…'.${areKeysFree ? ' POST /keys gives a free one.' : ''}`;
  }

  /**
   * Throws CompletionError `invalid_api_key` for a key that is missing, unknown or revoked, and `rate_limit` for a key
   * that was not recently valid from an address with too many invalid keys. A promise only where the key is looked up.
   */
  identify(authorization: string | undefined, from: string): GatewayKey | Promise<GatewayKey> {
    const presented = presentedKey(authorization);
    if (!presented) throw new CompletionError('invalid_api_key', this.#missing);
    const digest = hash('sha256', presented, 'base64');
    const known = this.#known.get(digest);
    const isKnown = known && (known.validUntil === null || known.validUntil > this.#now().getTime());
    return isKnown ? known : this.#find(presented, digest, from);
  }

  async #find(presented: string, digest: string, from: string): Promise<GatewayKey> {
    const networks = countedNetworks(from);
    const waitSeconds = this.#guesses.try(networks, digest);
    if (waitSeconds > 0)
      throw new CompletionError('rate_limit', 'Too many invalid keys from this address, its network or all clients.', {
        retryAfterMs: waitSeconds * 1_000,
      });
    const revision = this.#revision;
    const key = await this.#keys.find(presented).catch((error: unknown) => {
      this.#guesses.undecided(networks);
      throw error;
    });
    if (!key) {
      this.#guesses.missed(digest);
      throw new CompletionError('invalid_api_key', unknownText(presented));
    }
    this.#guesses.found(networks, digest);
    // A key that was revoked during the lookup is not cached.
    if (revision === this.#revision) this.#known.set(digest, key);
    return key;
  }

  /**
   * Like `identify`, for a request that may stay open for long: its key was valid after the last call of `endRevoked`,
   * and the next call ends the request if the key was revoked.
   */
  enter(authorization: string | undefined, from: string, response: ServerResponse): OpenCaller | Promise<OpenCaller> {
    const revision = this.#revision;
    const key = this.identify(authorization, from);
    if (!(key instanceof Promise)) return this.#opened(key, response);
    return key.then((found) =>
      revision === this.#revision ? this.#opened(found, response) : this.enter(authorization, from, response),
    );
  }

  #opened(key: GatewayKey, response: ServerResponse): OpenCaller {
    const { revoked, leave } = this.watch(key.id, () => setTimeout(() => response.destroy(), REVOKED_GRACE_MS).unref());
    // The client may have disconnected already.
    if (response.closed) leave();
    else response.on('close', leave);
    return { key, revoked };
  }

  /** A signal that aborts as that of `enter`, until `leave` is called: for work that outlives its request. */
  watch(keyId: string, onRevoked = () => {}): Pick<OpenCaller, 'revoked'> & { readonly leave: () => void } {
    const ending = new AbortController();
    const end = (revoked: CompletionError) => {
      ending.abort(revoked);
      onRevoked();
    };
    const open = this.#open.get(keyId) ?? new Set();
    this.#open.set(keyId, open.add(end));
    const leave = () => {
      open.delete(end);
      if (open.size === 0) this.#open.delete(keyId);
    };
    return { revoked: ending.signal, leave };
  }

  /** Ends the open requests of revoked keys. Rejects if the store fails; the next call then ends them. */
  async endRevoked(): Promise<void> {
    this.#revision += 1;
    this.#known.clear();
    const asked = [...this.#open.keys()];
    if (asked.length === 0) return;
    const valid = await this.#keys.stillValid(asked);
    for (const id of asked.filter((id) => !valid.has(id)))
      for (const end of this.#open.get(id) ?? [])
        end(new CompletionError('invalid_api_key', 'This API key was revoked.'));
  }
}

/** The key of an Authorization header; undefined without a readable one. */
export const presentedKey = (authorization: string | undefined): string | undefined =>
  /^Bearer +(\S{1,200})$/i.exec(authorization ?? '')?.[1];

function unknownText(presented: string): string {
  if (presented.startsWith('ssk_'))
    return 'This is a key of the stack service; keys of the inference service begin with sk-.';
  return 'This API key is unknown or was revoked, or it has expired.';
}

/** One small query each time. Together with the key query, a revocation takes effect in less than a second. */
const POLL_MS = 250;

interface ChangeDeps {
  readonly store: Pick<GatewayStore, 'revocations'>;
  readonly applyChanges: () => Promise<void>;
  readonly logger: Logger;
}

/**
 * Applies what other processes, such as the CLI, have changed of keys, teams and prices: polls the store until `signal`
 * aborts. Errors are retried.
 */
export async function followChanges({ store, applyChanges, logger }: ChangeDeps, signal: AbortSignal): Promise<void> {
  const failures = new FailureLog(logger, { what: 'polling for changed keys' });
  let before = 0;
  while (!signal.aborted) {
    try {
      const keys = await store.revocations();
      if (keys !== before) await applyChanges();
      before = keys;
      failures.recovered();
    } catch (error) {
      failures.failed(error);
    }
    await sleep(POLL_MS, undefined, { signal }).catch(() => {});
  }
}
