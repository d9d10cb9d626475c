// A counting semaphore; waiters are served in order of arrival.
export class Semaphore {
  /** Zero while there are waiters. */
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Acquires a slot until disposed. Rejects with the signal's reason when aborted while waiting. */
  async acquire(signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait(signal);
    return { [Symbol.dispose]: () => this.#release() };
  }

  async #wait(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const giveUp = () => {
      if (this.#waiting.delete(resolve)) reject(signal.reason);
    };
    this.#waiting.add(resolve);
    signal.addEventListener('abort', giveUp, { once: true });
    await promise.finally(() => signal.removeEventListener('abort', giveUp));
  }

  #release(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
