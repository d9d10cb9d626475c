// Work that outlives its connection: the handler of a disconnected client still uses resources that a shutdown is about
// to close.
import { setTimeout as delay } from 'node:timers/promises';

export class PendingWork {
  readonly #works = new Set<Promise<unknown>>();

  /** Tracks the work and returns it. */
  add<Value>(work: Promise<Value>): Promise<Value> {
    const over = () => void this.#works.delete(work);
    this.#works.add(work);
    work.then(over, over);
    return work;
  }

  /** Resolves when all current work has ended, successfully or not, or after `limitMs`. */
  async ended(limitMs: number): Promise<void> {
    const timeout = new AbortController();
    const late = delay(limitMs, undefined, { signal: timeout.signal }).catch(() => {});
    await Promise.race([Promise.allSettled(this.#works), late]);
    timeout.abort();
  }
}
