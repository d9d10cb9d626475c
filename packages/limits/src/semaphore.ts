// Limits of concurrency: a semaphore, and one for each key.

interface Waiter {
  readonly resume: () => void;
  isAborted: boolean;
}

/** Grants up to `limit` slots at once; waiters get a free slot in the order of their requests. */
export class Semaphore {
  readonly #limit: number;
  readonly #queue: Waiter[] = [];
  #head = 0;
  #used = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get isIdle(): boolean {
    return this.#used === 0;
  }

  /** Waits for a slot; undefined when one is free now. Rejects when `signal` aborts first. Return the slot with `release`. */
  acquire(signal?: AbortSignal): Promise<void> | undefined {
    if (this.#used < this.#limit) {
      this.#used += 1;
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const abort = () => {
        waiter.isAborted = true;
        reject(signal?.reason);
      };
      const resume = () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      };
      const waiter: Waiter = { resume, isAborted: false };
      this.#queue.push(waiter);
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  /** Waits for a slot, which is released on disposal. Rejects when `signal` is or gets aborted before. */
  async enter(signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    await this.acquire(signal);
    return { [Symbol.dispose]: () => this.release() };
  }

  /** Passes the slot to the first waiter, if there is one. */
  release(): void {
    let next = this.#queue[this.#head];
    while (next?.isAborted) next = this.#queue[++this.#head];
    if (next === undefined) this.#used -= 1;
    else {
      this.#head += 1;
      next.resume();
    }
    if (this.#head < this.#queue.length && this.#head < 1_024) return;
    // Removed in batches: removing each entry separately would take time proportional to the queue.
    this.#queue.splice(0, this.#head);
    this.#head = 0;
  }
}

/** A semaphore for each key, for example two concurrent visits of one address. */
export class KeyedSemaphore {
  readonly #limit: number;
  readonly #running = new Map<string, Semaphore>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Keys with work in progress. */
  get size(): number {
    return this.#running.size;
  }

  /** Rejects when `work` does, and when `signal` aborts before it has begun. */
  async run<T>(
    key: string,
    work: () => Promise<T>,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<T> {
    signal?.throwIfAborted();
    const semaphore = this.#running.get(key) ?? new Semaphore(this.#limit);
    this.#running.set(key, semaphore);
    await semaphore.acquire(signal);
    try {
      return await work();
    } finally {
      semaphore.release();
      if (semaphore.isIdle) this.#running.delete(key);
    }
  }
}
