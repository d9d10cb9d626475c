// A time limit for work, combined with the caller's abort signal. Time in a queue is not counted.

/** The maximum delay of a timer; Node fires longer ones at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Disposing removes the listener from the caller's signal, which may live as long as the process. */
export class Deadline implements Disposable {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #abort = () => this.stop();
  #leftMs: number;
  #isLate = false;

  constructor(timeoutMs: number, outer?: AbortSignal) {
    this.#leftMs = timeoutMs;
    this.#outer = outer;
    if (outer?.aborted) this.stop();
    else outer?.addEventListener('abort', this.#abort, { once: true });
  }

  /** Aborts when the time is used up, and when the caller aborts. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The time was used up before the caller aborted. */
  get isLate(): boolean {
    return this.#isLate;
  }

  /** Runs `work` and counts its time. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    const timer = setTimeout(
      () => {
        this.#isLate = !this.signal.aborted;
        this.stop();
      },
      Math.min(Math.max(0, this.#leftMs), MAX_TIMER_MS),
    );
    try {
      return await work();
    } finally {
      clearTimeout(timer);
      this.#leftMs -= performance.now() - startedAt;
    }
  }

  /** Aborts, as the caller's signal does. */
  stop(): void {
    this.#controller.abort();
  }

  [Symbol.dispose](): void {
    this.#outer?.removeEventListener('abort', this.#abort);
  }
}
