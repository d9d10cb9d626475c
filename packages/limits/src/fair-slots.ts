// A semaphore with a fair queue between keys: a key with many entries neither delays the entries of every other key, nor
// fills the queue.
import { FairQueue, type Queued } from './fair-queue.ts';

/** `full`: the queue is full. `evicted`: the entry waited, and a key with a shorter queue took its position. */
export type RefusalReason = 'full' | 'evicted';

export interface FairSlotsOptions {
  readonly slots: number;
  /**
   * Maximum number of waiting entries. When the queue is full, the newest entry of the longest queue is evicted for a
   * key with a shorter one.
   */
  readonly queue: number;
  /** `round-robin`: keys alternate. `fewest-held`: the key that holds the fewest slots is next. */
  readonly order: 'round-robin' | 'fewest-held';
  readonly refusal: (reason: RefusalReason) => Error;
  /** Called when an entry begins to wait, stops waiting, or gets or releases a slot. */
  readonly onChange?: () => void;
}

interface Waiter extends Queued {
  readonly enter: (slot: Disposable) => void;
  readonly refuse: (error: Error) => void;
}

export class FairSlots {
  readonly #options: FairSlotsOptions;
  readonly #waiters = new FairQueue<Waiter>();
  /** Slots in use, by key. */
  readonly #held = new Map<string, number>();
  readonly #whenEmpty: (() => void)[] = [];
  #slots: number;
  #running = 0;
  #closed: Error | undefined;

  constructor(options: FairSlotsOptions) {
    this.#options = options;
    this.#slots = options.slots;
  }

  get slots(): number {
    return this.#slots;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiters.size;
  }

  /** The number of running and waiting entries. */
  get size(): number {
    return this.#running + this.#waiters.size;
  }

  /** Changes the number of slots, at least one. With more, waiting entries get one; with fewer, running ones continue. */
  resize(slots: number): void {
    this.#slots = Math.max(1, slots);
    this.#admit();
  }

  /** Throws the refusal if this many more entries of a key could not even wait. */
  check(key: string, entries: number, share = 1): void {
    if (this.#closed) throw this.#closed;
    if (this.size + entries <= this.#slots + this.#options.queue) return;
    if (!this.#waiters.isShorter({ key, share }, entries)) throw this.#options.refusal('full');
  }

  /** Waits for a slot, which is released on disposal. Rejects with a refusal, or with the signal's reason. */
  async enter(key: string, signal: AbortSignal, share = 1): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.#closed) throw this.#closed;
    if (this.#running < this.#slots && this.waiting === 0) return this.#acquire(key);
    this.check(key, 1, share);
    if (this.size >= this.#slots + this.#options.queue) this.#waiters.evict()?.refuse(this.#options.refusal('evicted'));
    const { promise, resolve, reject } = Promise.withResolvers<Disposable>();
    const waiter: Waiter = { key, share, enter: resolve, refuse: reject };
    const leave = () => {
      if (!this.#waiters.leave(waiter)) return;
      reject(signal.reason);
      this.#changed();
    };
    this.#waiters.push(waiter);
    this.#changed();
    signal.addEventListener('abort', leave, { once: true });
    return promise.finally(() => signal.removeEventListener('abort', leave));
  }

  /** Rejects all waiting and future entries. */
  close(reason: Error): void {
    this.#closed = reason;
    this.rejectWaiting(reason);
  }

  /** Rejects all waiting entries. */
  rejectWaiting(reason: Error): void {
    for (let waiter = this.#waiters.next(); waiter; waiter = this.#waiters.next()) waiter.refuse(reason);
    this.#changed();
  }

  /** Resolves when no entry runs or waits, or when the signal is aborted. */
  async empty(signal: AbortSignal): Promise<void> {
    if (this.size === 0 || signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#whenEmpty.push(resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  #acquire(key: string): Disposable {
    this.#running += 1;
    this.#held.set(key, (this.#held.get(key) ?? 0) + 1);
    this.#changed();
    let isReleased = false;
    return {
      [Symbol.dispose]: () => {
        if (isReleased) return;
        isReleased = true;
        this.#running -= 1;
        const held = (this.#held.get(key) ?? 1) - 1;
        if (held > 0) this.#held.set(key, held);
        else this.#held.delete(key);
        this.#admit();
      },
    };
  }

  #admit(): void {
    const rankOf = this.#options.order === 'fewest-held' ? (key: string) => this.#held.get(key) ?? 0 : undefined;
    while (this.#running < this.#slots) {
      const waiter = this.#waiters.next(rankOf);
      if (!waiter) break;
      waiter.enter(this.#acquire(waiter.key));
    }
    this.#changed();
  }

  #changed(): void {
    this.#options.onChange?.();
    if (this.size === 0) for (const resolve of this.#whenEmpty.splice(0)) resolve();
  }
}
