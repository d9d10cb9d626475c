// Who gets the next free place: keys take turns, so that one caller with many requests does not make the others wait for all of them.
import { CompletionError } from '@strata/inference';
import type { Priority } from '@strata/store';
import { FairQueue, type Waiter } from './fair-queue.ts';

export interface AdmissionOptions {
  /** Answers made at once. */
  readonly places: number;
  /** Answers that may wait besides. When it is full, the longest line gives way to a shorter one. */
  readonly queue: number;
}

export class Admission {
  readonly #queue: number;
  readonly #lines = new FairQueue();
  #places: number;
  #inside = 0;
  #isClosed = false;

  constructor({ places, queue }: AdmissionOptions) {
    this.#places = places;
    this.#queue = queue;
  }

  get places(): number {
    return this.#places;
  }

  get waiting(): number {
    return this.#lines.size;
  }

  /** Answers being made or waiting. */
  get size(): number {
    return this.#inside + this.#lines.size;
  }

  /**
   * From now on so many places, at least one: whoever finds that nobody serves is told so by what serves. More let those in who wait;
   * fewer send nobody away.
   */
  resize(places: number): void {
    this.#places = Math.max(1, places);
    this.#admit();
  }

  /** Throws CompletionError `overloaded` where so many more answers of a key could not even wait. */
  check(key: string, answers: number, priority: Priority = 'normal'): void {
    if (this.#isClosed) throw stopping();
    if (this.size + answers <= this.#places + this.#queue) return;
    if (!this.#lines.isShorter({ key, priority }, answers)) throw overloaded();
  }

  /** A place until disposed, in turn with other keys. Throws CompletionError `overloaded`, or the signal's reason. */
  async enter(key: string, signal: AbortSignal, priority: Priority = 'normal'): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.#isClosed) throw stopping();
    if (this.#inside < this.#places && this.#lines.size === 0) return this.#place();
    this.check(key, 1, priority);
    if (this.size >= this.#places + this.#queue) this.#giveWay();
    const { promise, resolve, reject } = Promise.withResolvers<Disposable>();
    const waiter: Waiter = { key, priority, enter: () => resolve(this.#place()), refuse: reject };
    const leave = () => {
      if (this.#lines.leave(waiter)) reject(signal.reason);
    };
    this.#lines.push(waiter);
    signal.addEventListener('abort', leave, { once: true });
    return promise.finally(() => signal.removeEventListener('abort', leave));
  }

  /** Refuses those who wait, and all who come. */
  close(): void {
    this.#isClosed = true;
    this.sendAway(stopping());
  }

  /** Refuses those who wait: nobody will serve them. */
  sendAway(reason: CompletionError): void {
    for (let waiter = this.#lines.next(); waiter; waiter = this.#lines.next()) waiter.refuse(reason);
  }

  #place(): Disposable {
    this.#inside += 1;
    let isOver = false;
    return {
      [Symbol.dispose]: () => {
        if (isOver) return;
        isOver = true;
        this.#inside -= 1;
        this.#admit();
      },
    };
  }

  #admit(): void {
    while (this.#inside < this.#places) {
      const waiter = this.#lines.next();
      if (!waiter) return;
      waiter.enter();
    }
  }

  /** The newest of the longest line is refused. */
  #giveWay(): void {
    const last = this.#lines.longest()?.last;
    if (!last) return;
    this.#lines.leave(last);
    last.refuse(overloaded());
  }
}

function overloaded(): CompletionError {
  return new CompletionError('overloaded', 'All places are taken; try again in a moment.', { retryAfterMs: 1_000 });
}

/** Another process may serve in a moment. */
export function stopping(): CompletionError {
  return new CompletionError('overloaded', 'The service is stopping; try again in a moment.', { retryAfterMs: 2_000 });
}
