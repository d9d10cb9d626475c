// Tries again to go on with stored answers that the database has failed. An answer that fails again and again waits longer each time.
import { setTimeout as sleep } from 'node:timers/promises';

const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

export class AnswerRetries {
  readonly #ending: AbortSignal;
  /** How long an answer has waited last, by id. */
  readonly #waited = new Map<string, number>();
  readonly #trying = new Set<string>();

  constructor(ending: AbortSignal) {
    this.#ending = ending;
  }

  /** Waits and tries until `goOn` returns true, or the signal aborts; an error is a failed attempt. Once at a time for an answer. */
  async until(id: string, goOn: () => Promise<boolean>): Promise<void> {
    if (this.#trying.has(id)) return;
    this.#trying.add(id);
    for (let isDone = false; !isDone; ) {
      const waitMs = Math.min((this.#waited.get(id) ?? FIRST_MS / 2) * 2, LONGEST_MS);
      this.#waited.set(id, waitMs);
      await sleep(waitMs, undefined, { signal: this.#ending }).catch(() => {});
      if (this.#ending.aborted) return;
      isDone = await goOn().catch(() => false);
    }
    this.#trying.delete(id);
  }

  /** The answer is over: another with this id would wait as the first time. */
  forget(id: string): void {
    this.#waited.delete(id);
  }
}
