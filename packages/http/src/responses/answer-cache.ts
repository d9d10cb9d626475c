// Ready bytes by canonical request. Same body, same receipt: an answer is computed and signed once, until a tag of it is invalidated.
import { LRUCache } from 'lru-cache';

/** An answer as it leaves: bytes and validator. */
export interface ReadyAnswer {
  readonly bytes: Buffer;
  /** Strong entity tag with quotes. */
  readonly etag: string;
  readonly status: number;
  /** In place of, or besides, those that every ready answer has. */
  readonly headers?: Readonly<Record<string, string>>;
}

interface Place {
  readonly key: string;
  readonly tags: readonly string[];
  readonly maxStaleMs?: number;
  readonly maxAgeMs?: number;
}

interface Entry extends Place {
  readonly answer: ReadyAnswer;
  /** When its computation began, by the monotonic clock. */
  readonly computedAt: number;
  /** A tag was invalidated since. */
  isStale: boolean;
}

interface Computing {
  readonly answer: Promise<ReadyAnswer>;
  readonly computedAt: number;
  /** Set when a tag was invalidated meanwhile: who waits gets the answer, nobody after. */
  isStale: boolean;
}

export class AnswerCache {
  readonly #ready: LRUCache<string, Entry>;
  readonly #computing = new Map<string, Computing>();
  readonly #keysByTag = new Map<string, Set<string>>();

  /** `maxBytes` bounds the bodies kept; the least recently used go first. */
  readonly #now: () => number;

  constructor(options: { readonly maxBytes?: number; readonly now?: () => number } = {}) {
    this.#now = options.now ?? (() => performance.now());
    this.#ready = new LRUCache<string, Entry>({
      maxSize: options.maxBytes ?? 256 * 1024 * 1024,
      // A key, its tags and the map entries weigh about as much as this beside the body.
      sizeCalculation: (entry) => entry.answer.bytes.length + 512,
      // A newer answer in its place is found by the same tags.
      dispose: (entry, key, reason) => {
        if (reason !== 'set') this.#forget(key, entry.tags);
      },
    });
  }

  /** The answer of a key, when it may still be served. */
  get(key: string): ReadyAnswer | undefined {
    const entry = this.#ready.get(key);
    if (!entry) return undefined;
    if (!entry.isStale && entry.maxAgeMs === undefined) return entry.answer;
    const ageMs = this.#now() - entry.computedAt;
    if (entry.isStale && ageMs >= (entry.maxStaleMs ?? 0)) return undefined;
    return entry.maxAgeMs !== undefined && ageMs >= entry.maxAgeMs ? undefined : entry.answer;
  }

  /**
   * The kept answer, or the one being computed for another request, or a new one. A failure is not kept, nor is an answer
   * that was computed while one of its tags was invalidated, unless `make` called `readsAnew` after that.
   */
  async compute(place: Place, make: (readsAnew: () => void) => Promise<ReadyAnswer>): Promise<ReadyAnswer> {
    const { key, tags } = place;
    const kept = this.get(key);
    if (kept) return kept;
    const running = this.#computing.get(key);
    // One that went stale while it was computed still serves those who may be told what is a little old.
    if (running && (!running.isStale || this.#now() - running.computedAt < (place.maxStaleMs ?? 0)))
      return running.answer;

    const state = { isStale: false, computedAt: this.#now() };
    const readsAnew = () => {
      state.isStale = false;
    };
    const computing: Computing = Object.assign(state, {
      // A moment later, when the tags are known: nothing that is read may be invalidated unseen.
      answer: Promise.resolve(readsAnew).then(make),
    });
    this.#computing.set(key, computing);
    for (const tag of tags) this.#keysOf(tag).add(key);
    try {
      const answer = await computing.answer;
      // Only the latest one is kept: `invalidate` reaches no other, and a second entry would take the first one's tags along.
      const isLatest = this.#computing.get(key) === computing;
      const { isStale, computedAt } = computing;
      if (isLatest && (!isStale || place.maxStaleMs !== undefined))
        this.#ready.set(key, { ...place, answer, computedAt, isStale });
      return answer;
    } finally {
      if (this.#computing.get(key) === computing) this.#computing.delete(key);
      if (!this.#ready.has(key) && !this.#computing.has(key)) this.#forget(key, tags);
    }
  }

  /** Drops every answer with the tag, and marks those being computed, which may have read the old state. */
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

  /** The same of every tag. */
  invalidateAll(): void {
    for (const tag of [...this.#keysByTag.keys()]) this.invalidate(tag);
  }

  get size(): number {
    return this.#ready.size;
  }

  /** Tags that lead to an answer, kept or being computed. */
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
