// The slots of one engine, and the queue for them, shared fairly between gateways.

/** The queue is full; another worker may have capacity. */
export class BusyError extends Error {
  override readonly name = 'BusyError';
}

/** Disposing it releases the slot. */
export interface EngineSlot extends Disposable {
  readonly gateway: string;
}

interface Waiting {
  readonly gateway: string;
  readonly enter: (slot: EngineSlot) => void;
  readonly refuse: (error: Error) => void;
}

export interface EngineSlotsOptions {
  readonly slots: number;
  /** Maximum number of waiting requests. */
  readonly queue: number;
}

/**
 * A free slot is assigned to the gateway that holds the fewest, and within a gateway in FIFO order. When the queue is
 * full, a gateway with fewer waiting requests evicts the last request of the gateway with the most, so that no gateway
 * can block the rest by filling the queue.
 */
export class EngineSlots {
  readonly #options: EngineSlotsOptions;
  readonly #onChange: () => void;
  readonly #held = new Map<string, number>();
  #queue: Waiting[] = [];
  readonly #whenEmpty: (() => void)[] = [];
  #running = 0;

  constructor(options: EngineSlotsOptions, onChange: () => void = () => {}) {
    this.#options = options;
    this.#onChange = onChange;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  /** Rejects with BusyError, or with the signal's reason. */
  enter(gateway: string, signal: AbortSignal): Promise<EngineSlot> {
    signal.throwIfAborted();
    if (this.#running < this.#options.slots) return Promise.resolve(this.#acquire(gateway));
    if (this.#queue.length >= this.#options.queue && !this.#evictFor(gateway))
      return Promise.reject(new BusyError('no slot is free, and the queue is full'));
    return this.#wait(gateway, signal);
  }

  /** Resolves when no slot is in use and the queue is empty, or when the signal is aborted. */
  async empty(signal: AbortSignal): Promise<void> {
    if (this.#isEmpty || signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#whenEmpty.push(resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  get #isEmpty(): boolean {
    return this.#running === 0 && this.#queue.length === 0;
  }

  #changed(): void {
    this.#onChange();
    if (this.#isEmpty) for (const resolve of this.#whenEmpty.splice(0)) resolve();
  }

  async #wait(gateway: string, signal: AbortSignal): Promise<EngineSlot> {
    const { promise, resolve, reject } = Promise.withResolvers<EngineSlot>();
    const waiting: Waiting = { gateway, enter: resolve, refuse: reject };
    const leave = () => {
      this.#queue = this.#queue.filter((other) => other !== waiting);
      reject(signal.reason);
      this.#changed();
    };
    this.#queue.push(waiting);
    signal.addEventListener('abort', leave, { once: true });
    this.#changed();
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  /** Evicts the last request of the gateway with the most waiting requests, if it has more than this one would have. */
  #evictFor(gateway: string): boolean {
    const waitingOf = (name: string) => this.#queue.filter((waiting) => waiting.gateway === name).length;
    const max = this.#queue.toSorted((a, b) => waitingOf(b.gateway) - waitingOf(a.gateway))[0]?.gateway;
    if (max === undefined || waitingOf(max) <= waitingOf(gateway) + 1) return false;
    const last = this.#queue.findLast((waiting) => waiting.gateway === max);
    this.#queue = this.#queue.filter((waiting) => waiting !== last);
    last?.refuse(new BusyError('the queue is full, and other gateways are waiting'));
    return true;
  }

  #acquire(gateway: string): EngineSlot {
    this.#running += 1;
    this.#held.set(gateway, (this.#held.get(gateway) ?? 0) + 1);
    this.#changed();
    let isReleased = false;
    return {
      gateway,
      [Symbol.dispose]: () => {
        if (isReleased) return;
        isReleased = true;
        this.#release(gateway);
      },
    };
  }

  #release(gateway: string): void {
    this.#running -= 1;
    const held = (this.#held.get(gateway) ?? 1) - 1;
    if (held > 0) this.#held.set(gateway, held);
    else this.#held.delete(gateway);
    // Stable sort: gateways with equally many slots are served in order of arrival.
    const [next] = this.#queue.toSorted((a, b) => (this.#held.get(a.gateway) ?? 0) - (this.#held.get(b.gateway) ?? 0));
    if (next) {
      this.#queue = this.#queue.filter((waiting) => waiting !== next);
      next.enter(this.#acquire(next.gateway));
    } else this.#changed();
  }
}
