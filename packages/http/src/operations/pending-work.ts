// Work that outlives its connection: a client that has gone leaves a handler behind, which still needs what the process is about to close.
import { setTimeout as delay } from 'node:timers/promises';

export class PendingWork {
  readonly #works = new Set<Promise<unknown>>();

  /** Returns the work itself. */
  add<Value>(work: Promise<Value>): Promise<Value> {
    const over = () => void this.#works.delete(work);
    this.#works.add(work);
    work.then(over, over);
    return work;
  }

  /** Resolves when all that is under way now has ended, well or not, or after `limitMs`. */
  async ended(limitMs: number): Promise<void> {
    const patience = new AbortController();
    const late = delay(limitMs, undefined, { signal: patience.signal }).catch(() => {});
    await Promise.race([Promise.allSettled(this.#works), late]);
    patience.abort();
  }
}
