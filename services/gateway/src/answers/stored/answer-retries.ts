// Tries again to go on with stored answers that the database has failed. An answer that fails again and again waits longer each time.
import { setTimeout as sleep } from 'node:timers/promises';

const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

export class AnswerRetries {
  readonly #ending: AbortSignal;
  /** How long an answer has waited last, by id. */
  readonly #waited = new Map<string, number>();

  constructor(ending: AbortSignal) {
    this.#ending = ending;
  }

  /** Waits and tries until `goOn` returns true, or the signal aborts; an error is a failed attempt. */
  async until(id: string, goOn: () => Promise<boolean>): Promise<void> {
    for (let isDone = false; !isDone; ) {
      const waitMs = Math.min((this.#waited.get(id) ?? FIRST_MS / 2) * 2, LONGEST_MS);
      this.#waited.set(id, waitMs);
      await sleep(waitMs, undefined, { signal: this.#ending }).catch(() => {});
      if (this.#ending.aborted) return;
      isDone = await goOn().catch(() => false);
    }
  }

  /** The answer is over: another with this id would wait as the first time. */
  forget(id: string): void {
    this.#waited.delete(id);
  }
}
