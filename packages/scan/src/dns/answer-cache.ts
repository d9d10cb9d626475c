// Answers by question, kept within their TTL and a limit of bytes.
import type { Lookup } from '@strata/detect';
import { LRUCache } from 'lru-cache';
import type { Answer } from './message/answer.ts';

export interface AnswerCacheOptions {
  readonly entries: number;
  readonly maxBytes: number;
  /** Longer TTLs are reduced to this. */
  readonly maxTtlMs: number;
}

/** Bytes of an entry without its texts: key, objects and the cache's own overhead. */
const ENTRY_BYTES = 400;

export class AnswerCache {
  readonly #cache: LRUCache<string, Answer<unknown>>;
  readonly #maxTtlMs: number;
  /** The minimum size of an entry: `maxBytes` then also limits their number, without memory reserved for all of them. */
  readonly #minBytes: number;

  constructor({ entries, maxBytes, maxTtlMs }: AnswerCacheOptions) {
    this.#maxTtlMs = maxTtlMs;
    this.#minBytes = Math.floor(maxBytes / entries);
    this.#cache = new LRUCache({
      maxSize: maxBytes,
      // TTLs have a resolution of seconds: reading the clock more often is unnecessary.
      ttlResolution: 100,
      ttl: maxTtlMs,
    });
  }

  get size(): number {
    return this.#cache.size;
  }

  get(key: string): Answer<unknown> | undefined {
    return this.#cache.get(key);
  }

  /** Failures and answers with TTL 0 are not kept. */
  keep(key: string, answer: Answer<unknown>, ttlSeconds: number): void {
    const ttl = Math.min(ttlSeconds * 1_000, this.#maxTtlMs);
    if (ttl > 0) this.#cache.set(key, answer, { ttl, size: Math.max(this.#minBytes, weigh(answer.lookup)) });
  }
}

/** Approximate bytes: texts by length, other records as a few names. */
function weigh({ records, aliases }: Lookup<unknown>): number {
  let bytes = ENTRY_BYTES;
  for (const record of records) bytes += typeof record === 'string' ? record.length + 40 : 160;
  for (const alias of aliases) bytes += alias.length + 40;
  return bytes;
}
