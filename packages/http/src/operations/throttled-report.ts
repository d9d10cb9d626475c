// Trouble that meets every request, such as a database that is away: told whole now and then, and how often it came between.
import { LRUCache } from 'lru-cache';

/** Thousands of requests a second would else be thousands of stacks. */
const EVERY_MS = 10_000;
/** Kinds of trouble at once; an error that names what it is about may be many. */
const MAX_KINDS = 100;

export class ThrottledReport {
  readonly #now: () => number;
  readonly #told = new LRUCache<string, { at: number; since: number }>({ max: MAX_KINDS });

  constructor(monotonicNow: () => number = () => performance.now()) {
    this.#now = monotonicNow;
  }

  /** How many like it came since one was told; undefined while it is too early to tell another. */
  take(error: unknown): number | undefined {
    const kind = error instanceof Error ? `${error.name} ${error.message}` : String(error);
    const told = this.#told.get(kind);
    const now = this.#now();
    if (told && now - told.at < EVERY_MS) {
      told.since += 1;
      return undefined;
    }
    this.#told.set(kind, { at: now, since: 0 });
    return told?.since ?? 0;
  }
}
