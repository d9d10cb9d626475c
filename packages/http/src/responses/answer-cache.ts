// Cache of response bytes by canonical request. A response is computed and signed once, until one of its tags is
// invalidated.
import { LRUCache } from 'lru-cache';

/** A response ready to be sent: bytes and validator. */
export interface ReadyAnswer {
  readonly bytes: Buffer;
  /** Strong entity tag with quotes. */
  readonly etag: string;
  readonly status: number;
  /** Replace, or add to, the headers that every ready response has. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Cache key of a response: the cached body is served until one of `tags` is invalidated. */
export interface CachePolicy {
  readonly key: string;
  readonly tags: readonly string[];
  /** An invalidated response is still served until it has this age, which limits how often it is signed. */
  readonly maxStaleMs?: number;
  /** An older response is recomputed even without an invalidation. */
  readonly maxAgeMs?: number;
}

interface Entry extends CachePolicy {
  readonly answer: ReadyAnswer;
  /** Start of its computation, on the monotonic clock. */
  readonly computedAt: number;
  /** A tag was invalidated since. */
  isStale: boolean;
}

interface Computing {
  readonly answer: Promise<ReadyAnswer>;
  readonly computedAt: number;
  /** A tag was invalidated during the computation: only requests that already wait get the response. */
  isStale: boolean;
}

export class AnswerCache {
  readonly #ready: LRUCache<string, Entry>;
  readonly #computing = new Map<string, Computing>();
  readonly #keysByTag = new Map<string, Set<string>>();

  /** `maxBytes` limits the cached bodies; the least recently used are evicted first. */
  readonly #now: () => number;

  constructor(options: { readonly maxBytes?: number; readonly now?: () => number } = {}) {
    this.#now = options.now ?? (() => performance.now());
    this.#ready = new LRUCache<string, Entry>({
      maxSize: options.maxBytes ?? 256 * 1024 * 1024,
      // A key, its tags and the map entries take about this much in addition to the body.
      sizeCalculation: (entry) => entry.answer.bytes.length + 512,
      // A newer entry with the same key uses the same tags.
      dispose: (entry, key, reason) => {
        if (reason !== 'set') this.#forget(key, entry.tags);
      },
    });
  }

  /** The cached response of a key, if it may still be served. */
  get(key: string): ReadyAnswer | undefined {
    const entry = this.#ready.get(key);
    if (!entry) return undefined;
    if (!entry.isStale && entry.maxAgeMs === undefined) return entry.answer;
    const ageMs = this.#now() - entry.computedAt;
    if (entry.isStale && ageMs >= (entry.maxStaleMs ?? 0)) return undefined;
    return entry.maxAgeMs !== undefined && ageMs >= entry.maxAgeMs ? undefined : entry.answer;
  }

  /**
   * The cached response, or the one being computed for another request, or a new one. Failures are not cached, nor are
   * responses computed while one of their tags was invalidated, unless `make` called `resetReads` after that.
   */
  async compute(policy: CachePolicy, make: (resetReads: () => void) => Promise<ReadyAnswer>): Promise<ReadyAnswer> {
    const { key, tags } = policy;
    const kept = this.get(key);
    if (kept) return kept;
    const running = this.#computing.get(key);
    // A computation that became stale still serves requests that accept slightly old data.
    if (running && (!running.isStale || this.#now() - running.computedAt < (policy.maxStaleMs ?? 0)))
      return running.answer;

    const state = { isStale: false, computedAt: this.#now() };
    const resetReads = () => {
      state.isStale = false;
    };
    const computing: Computing = Object.assign(state, {
      // Asynchronously, after the tags are registered: no invalidation may be missed.
      answer: Promise.resolve(resetReads).then(make),
    });
    this.#computing.set(key, computing);
    for (const tag of tags) this.#keysOf(tag).add(key);
    try {
      const answer = await computing.answer;
      // Only the latest is cached: `invalidate` reaches no other one, and a second entry would remove the first one's
      // tags.
      const isLatest = this.#computing.get(key) === computing;
      const { isStale, computedAt } = computing;
      if (isLatest && (!isStale || policy.maxStaleMs !== undefined))
        this.#ready.set(key, { ...policy, answer, computedAt, isStale });
      return answer;
    } finally {
      if (this.#computing.get(key) === computing) this.#computing.delete(key);
      if (!this.#ready.has(key) && !this.#computing.has(key)) this.#forget(key, tags);
    }
  }

  /** Drops every response with the tag, and marks those being computed, which may have read the old state. */
  invalidate(tag: string): void {
    const keys = this.#keysByTag.get(tag);
    if (!keys) return;
    for (const key of [...keys]) {
      const computing = this.#computing.get(key);
      if (computing) computing.isStale = true;
      const entry = this.#ready.peek(key);
      if (entry?.maxStaleMs === undefined) this.#ready.delete(key);
      else entry.isStale = true;
    }
  }

  /** Invalidates every tag. */
  invalidateAll(): void {
    for (const tag of [...this.#keysByTag.keys()]) this.invalidate(tag);
  }

  get size(): number {
    return this.#ready.size;
  }

  /** Number of tags of cached responses and running computations. */
  get tagCount(): number {
    return this.#keysByTag.size;
  }

  #keysOf(tag: string): Set<string> {
    const keys = this.#keysByTag.get(tag) ?? new Set<string>();
    this.#keysByTag.set(tag, keys);
    return keys;
  }

  #forget(key: string, tags: readonly string[]): void {
    for (const tag of tags) {
      const keys = this.#keysByTag.get(tag);
      keys?.delete(key);
      if (keys?.size === 0) this.#keysByTag.delete(tag);
    }
  }
}
