// Limits the log of failures that affect every request, such as an unavailable database: one report per interval, with
// a count.
import { LRUCache } from 'lru-cache';

/** Otherwise thousands of requests a second would log thousands of stack traces. */
const EVERY_MS = 10_000;
/** Kinds tracked at once; errors that contain a name may have many. */
const MAX_KINDS = 100;

export class ThrottledReport {
  readonly #now: () => number;
  readonly #reported = new LRUCache<string, { at: number; since: number }>({ max: MAX_KINDS });

  constructor(monotonicNow: () => number = () => performance.now()) {
    this.#now = monotonicNow;
  }

  /** The number of suppressed errors of this kind since the last report; undefined while within the interval. */
  take(error: unknown): number | undefined {
    const kind = error instanceof Error ? `${error.name} ${error.message}` : String(error);
    const last = this.#reported.get(kind);
    const now = this.#now();
    if (last && now - last.at < EVERY_MS) {
      last.since += 1;
      return undefined;
    }
    this.#reported.set(kind, { at: now, since: 0 });
    return last?.since ?? 0;
  }
}
