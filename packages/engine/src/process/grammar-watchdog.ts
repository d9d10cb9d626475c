// Whose grammar native code is at, just now: a thread beside looks on, because what runs on without end answers nobody. It tells
// the parent by a pipe of its own, and the parent ends the process.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** The descriptor of that pipe, in the process and for its parent. */
export const GRAMMAR_PIPE = 4;
/** One step of a grammar takes microseconds, opening a large one some tens of milliseconds. */
export const GRAMMAR_MS = 1_000;

export class GrammarWatch {
  /** The number of the call that is at its grammar, 0: none; and how often one has begun. */
  readonly #state: Int32Array<SharedArrayBuffer>;

  private constructor(state: Int32Array<SharedArrayBuffer>) {
    this.#state = state;
  }

  /** Resolves when it looks on. */
  static async start(): Promise<GrammarWatch> {
    const state = new Int32Array(new SharedArrayBuffer(8));
    const thread = new Worker(new URL('grammar-watchdog-thread.ts', import.meta.url), { workerData: state });
    await once(thread, 'online');
    // It does not keep the process.
    thread.unref();
    return new GrammarWatch(state);
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
