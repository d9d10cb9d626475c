// Answers by question, kept within their TTL and a limit of bytes.
import type { Lookup } from '@strata/detect';
import { LRUCache } from 'lru-cache';
import type { Answer } from './message/answer.ts';

const MAX_BYTES = 64 * 1024 * 1024;
/** The minimum size of an entry: the bytes then also limit their number to 100,000, without memory reserved for all of them. */
const MIN_BYTES = Math.floor(MAX_BYTES / 100_000);
/** Bytes of an entry without its texts: key, objects and the cache's own overhead. */
const ENTRY_BYTES = 400;

export class AnswerCache {
  readonly #cache: LRUCache<string, Answer<unknown>>;
  readonly #maxTtlMs: number;

  constructor(maxTtlMs: number) {
    this.#maxTtlMs = maxTtlMs;
    this.#cache = new LRUCache({
      maxSize: MAX_BYTES,
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
    if (ttl > 0) this.#cache.set(key, answer, { ttl, size: Math.max(MIN_BYTES, weigh(answer.lookup)) });
  }
}

/** Approximate bytes: texts by length, other records as a few names. */
function weigh({ records, aliases }: Lookup<unknown>): number {
  let bytes = ENTRY_BYTES;
  for (const record of records) bytes += typeof record === 'string' ? record.length + 40 : 160;
  for (const alias of aliases) bytes += alias.length + 40;
  return bytes;
}
