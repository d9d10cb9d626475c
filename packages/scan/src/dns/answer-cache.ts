// Answers by question, kept as long as their TTL allows and memory has room.
import type { Lookup } from '@strata/detect';
import { LRUCache } from 'lru-cache';
import type { Answer } from './message/answer.ts';

export interface AnswerCacheOptions {
  readonly entries: number;
  readonly maxBytes: number;
  /** What a server says beyond this is not believed. */
  readonly maxTtlMs: number;
}

/** What an entry weighs besides its texts: key, objects and the cache's own books. */
const ENTRY_BYTES = 400;

export class AnswerCache {
  readonly #cache: LRUCache<string, Answer<unknown>>;
  readonly #maxTtlMs: number;
  /** What an entry weighs at least: the size bounds their number too, without memory reserved for all of them at once. */
  readonly #minBytes: number;

  constructor({ entries, maxBytes, maxTtlMs }: AnswerCacheOptions) {
    this.#maxTtlMs = maxTtlMs;
    this.#minBytes = Math.floor(maxBytes / entries);
    this.#cache = new LRUCache({
      maxSize: maxBytes,
      // TTLs are whole seconds; asking the clock more often than this would only cost time.
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

  /** Failures and answers with TTL 0 come with no time to live and are not kept. */
  keep(key: string, answer: Answer<unknown>, ttlSeconds: number): void {
    const ttl = Math.min(ttlSeconds * 1_000, this.#maxTtlMs);
    if (ttl > 0) this.#cache.set(key, answer, { ttl, size: Math.max(this.#minBytes, weigh(answer.lookup)) });
  }
}

/** Rough bytes: texts count by length, other records as a few names. */
function weigh({ records, aliases }: Lookup<unknown>): number {
  let bytes = ENTRY_BYTES;
  for (const record of records) bytes += typeof record === 'string' ? record.length + 40 : 160;
  for (const alias of aliases) bytes += alias.length + 40;
  return bytes;
}
