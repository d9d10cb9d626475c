// Detects a grammar step that does not return: native code blocks the event loop, so a separate thread watches the step
// and reports it to the parent through a pipe of its own; the parent kills the process.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** File descriptor of the pipe, in the process and in its parent. */
export const GRAMMAR_PIPE = 4;
/** One grammar step takes microseconds; opening a large grammar takes some tens of milliseconds. */
export const GRAMMAR_MS = 1_000;

export class GrammarWatchdog {
  /** Number of the call in a grammar step (0: none), and the count of steps begun. */
  readonly #state: Int32Array<SharedArrayBuffer>;

  private constructor(state: Int32Array<SharedArrayBuffer>) {
    this.#state = state;
  }

  /** Resolves when the thread is running. */
  static async start(): Promise<GrammarWatchdog> {
    const state = new Int32Array(new SharedArrayBuffer(8));
    const thread = new Worker(new URL('grammar-watchdog-thread.ts', import.meta.url), { workerData: state });
    await once(thread, 'online');
    // The thread must not keep the process alive.
    thread.unref();
    return new GrammarWatchdog(state);
  }

  /** Runs one step of native code for a call. */
  step<T>(call: number, run: () => T): T {
    this.#state[1] = (this.#state[1] ?? 0) + 1;
    Atomics.store(this.#state, 0, call);
    try {
      return run();
    } finally {
      Atomics.store(this.#state, 0, 0);
    }
  }
}
