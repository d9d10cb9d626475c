// How long work may take, and a caller who may give up sooner: one signal for both. Time runs only while work does.

/** The longest that a timer can be set to; beyond it Node fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Disposing takes the listener off the caller's signal, which may live as long as the process. */
export class Deadline implements Disposable {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #giveUp = () => this.stop();
  #leftMs: number;
  #isLate = false;

  constructor(timeoutMs: number, outer?: AbortSignal) {
    this.#leftMs = timeoutMs;
    this.#outer = outer;
    if (outer?.aborted) this.stop();
    else outer?.addEventListener('abort', this.#giveUp, { once: true });
  }

  /** Aborts when time is up, and when the caller gives up. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Time was up, rather than the caller giving up. */
  get isLate(): boolean {
    return this.#isLate;
  }

  /** Runs `work` with the clock running. */
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

  /** Ends it as the caller's signal would. */
  stop(): void {
    this.#controller.abort();
  }

  [Symbol.dispose](): void {
    this.#outer?.removeEventListener('abort', this.#giveUp);
  }
}
