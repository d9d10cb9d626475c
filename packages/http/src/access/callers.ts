// The valid key of each request, for its handler and for its problem response.
import type { FastifyRequest } from 'fastify';
import type { ApiKey } from '../route.ts';
import type { KeyCheck } from './keys.ts';

const HEADER = 'x-stack-key';

export class Callers {
  readonly #keys: KeyCheck;
  /** Undefined: the key was refused, or the lookup failed. */
  readonly #of = new WeakMap<FastifyRequest, ApiKey | undefined>();

  constructor(keys: KeyCheck) {
    this.#keys = keys;
  }

  /** Refuses as `KeyCheck.identify` does. */
  identify(request: FastifyRequest): ApiKey | Promise<ApiKey> {
    this.#of.set(request, undefined);
    const key = this.#keys.identify(request.headers[HEADER], request.ip);
    if (key instanceof Promise) return key.then((found) => this.#note(request, found));
    return this.#note(request, key);
  }

  /**
   * The valid key, also of a request that was refused before its key was checked, or whose path needs none. Never
   * rejects.
   */
  async of(request: FastifyRequest): Promise<ApiKey | undefined> {
    if (this.#of.has(request) || request.headers[HEADER] === undefined) return this.#of.get(request);
    try {
      return await this.identify(request);
    } catch {
      return undefined;
    }
  }

  #note(request: FastifyRequest, key: ApiKey): ApiKey {
    this.#of.set(request, key);
    return key;
  }
}
