// Admission control: limits concurrent answers, and queues the rest fairly, so that a key with many requests does not
// delay all other keys.

import type { Priority } from '@strata/db';
import { CompletionError } from '@strata/inference';
import { FairQueue, type Waiter } from './fair-queue.ts';

export interface AdmissionOptions {
  /** Maximum number of concurrent answers. */
  readonly slots: number;
  /**
   * Maximum number of waiting answers. When the queue is full, the newest answer of the longest queue is evicted for a
   * key with a shorter one.
   */
  readonly queue: number;
}

export class Admission {
  readonly #queue: number;
  readonly #waiters = new FairQueue();
  #slots: number;
  #running = 0;
  #isClosed = false;

  constructor({ slots, queue }: AdmissionOptions) {
    this.#slots = slots;
    this.#queue = queue;
  }

  get slots(): number {
    return this.#slots;
  }

  get waiting(): number {
    return this.#waiters.size;
  }

  /** The number of answers in progress or waiting. */
  get size(): number {
    return this.#running + this.#waiters.size;
  }

  /**
   * Changes the number of slots, at least one: if no worker is left, the network engine reports that. With more slots,
   * waiting answers are admitted; with fewer, running answers continue.
   */
  resize(slots: number): void {
    this.#slots = Math.max(1, slots);
    this.#admit();
  }

  /** Throws CompletionError `overloaded` if this many more answers of a key could not even wait. */
  check(key: string, answers: number, priority: Priority = 'normal'): void {
    if (this.#isClosed) throw stopping();
    if (this.size + answers <= this.#slots + this.#queue) return;
    if (!this.#waiters.isShorter({ key, priority }, answers)) throw overloaded();
  }

  /** Waits for a slot, which is released on disposal. Throws CompletionError `overloaded`, or the signal's reason. */
  async enter(key: string, signal: AbortSignal, priority: Priority = 'normal'): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.#isClosed) throw stopping();
    if (this.#running < this.#slots && this.#waiters.size === 0) return this.#acquire();
    this.check(key, 1, priority);
    if (this.size >= this.#slots + this.#queue) this.#evict();
    const { promise, resolve, reject } = Promise.withResolvers<Disposable>();
    const waiter: Waiter = { key, priority, enter: () => resolve(this.#acquire()), refuse: reject };
    const leave = () => {
      if (this.#waiters.leave(waiter)) reject(signal.reason);
    };
    this.#waiters.push(waiter);
    signal.addEventListener('abort', leave, { once: true });
    return promise.finally(() => signal.removeEventListener('abort', leave));
  }

  /** Rejects all waiting and future answers. */
  close(): void {
    this.#isClosed = true;
    this.rejectWaiting(stopping());
  }

  /** Rejects all waiting answers. */
  rejectWaiting(reason: CompletionError): void {
    for (let waiter = this.#waiters.next(); waiter; waiter = this.#waiters.next()) waiter.refuse(reason);
  }

  #acquire(): Disposable {
    this.#running += 1;
    let isReleased = false;
    return {
      [Symbol.dispose]: () => {
        if (isReleased) return;
        isReleased = true;
        this.#running -= 1;
        this.#admit();
      },
    };
  }

  #admit(): void {
    while (this.#running < this.#slots) {
      const waiter = this.#waiters.next();
      if (!waiter) return;
      waiter.enter();
    }
  }

  /** Rejects the newest answer of the longest queue. */
  #evict(): void {
    const last = this.#waiters.longest()?.last;
    if (!last) return;
    this.#waiters.leave(last);
    last.refuse(overloaded());
  }
}

function overloaded(): CompletionError {
  return new CompletionError('overloaded', 'All slots are in use; try again in a moment.', { retryAfterMs: 1_000 });
}

/** Another process may serve the request in a moment. */
export function stopping(): CompletionError {
  return new CompletionError('overloaded', 'The service is stopping; try again in a moment.', { retryAfterMs: 2_000 });
}
