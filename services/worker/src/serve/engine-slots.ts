// Who is served now, and who waits: the places of one engine, shared fairly between the gateways that ask for them.

/** The line is full; another worker may have room. */
export class BusyError extends Error {
  override readonly name = 'BusyError';
}

/** Leaving it frees the place. */
export interface EngineSlot extends Disposable {
  readonly gateway: string;
}

interface Waiting {
  readonly gateway: string;
  readonly enter: (place: EngineSlot) => void;
  readonly refuse: (error: Error) => void;
}

export interface EngineSlotsOptions {
  readonly places: number;
  /** Requests that may wait. */
  readonly queue: number;
}

/**
 * A free place goes to the gateway that has the fewest, and within a gateway to who came first. When the line is full, a gateway
 * that has fewer waiting than another one takes the last one's place in it: nobody can keep the rest out by asking for everything.
 */
export class EngineSlots {
  readonly #options: EngineSlotsOptions;
  readonly #onChange: () => void;
  readonly #held = new Map<string, number>();
  #line: Waiting[] = [];
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
    return this.#line.length;
  }

  /** Rejects with BusyError, or with the signal's reason. */
  enter(gateway: string, signal: AbortSignal): Promise<EngineSlot> {
    signal.throwIfAborted();
    if (this.#running < this.#options.places) return Promise.resolve(this.#taken(gateway));
    if (this.#line.length >= this.#options.queue && !this.#madeRoom(gateway))
      return Promise.reject(new BusyError('no place is free, and the line is full'));
    return this.#wait(gateway, signal);
  }

  /** Resolves when nobody holds or waits for a place, or when the signal is aborted. */
  async empty(signal: AbortSignal): Promise<void> {
    if (this.#isEmpty || signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#whenEmpty.push(resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  get #isEmpty(): boolean {
    return this.#running === 0 && this.#line.length === 0;
  }

  #changed(): void {
    this.#onChange();
    if (this.#isEmpty) for (const resolve of this.#whenEmpty.splice(0)) resolve();
  }

  async #wait(gateway: string, signal: AbortSignal): Promise<EngineSlot> {
    const { promise, resolve, reject } = Promise.withResolvers<EngineSlot>();
    const waiting: Waiting = { gateway, enter: resolve, refuse: reject };
    const leave = () => {
      this.#line = this.#line.filter((other) => other !== waiting);
      reject(signal.reason);
      this.#changed();
    };
    this.#line.push(waiting);
    signal.addEventListener('abort', leave, { once: true });
    this.#changed();
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  /** Sends away the last one of the gateway that has most waiting, if that is more than this one would have. */
  #madeRoom(gateway: string): boolean {
    const waitingOf = (name: string) => this.#line.filter((waiting) => waiting.gateway === name).length;
    const max = this.#line.toSorted((a, b) => waitingOf(b.gateway) - waitingOf(a.gateway))[0]?.gateway;
    if (max === undefined || waitingOf(max) <= waitingOf(gateway) + 1) return false;
    const last = this.#line.findLast((waiting) => waiting.gateway === max);
    this.#line = this.#line.filter((waiting) => waiting !== last);
    last?.refuse(new BusyError('the line is full, and others ask too'));
    return true;
  }

  #taken(gateway: string): EngineSlot {
    this.#running += 1;
    this.#held.set(gateway, (this.#held.get(gateway) ?? 0) + 1);
    this.#changed();
    let isLeft = false;
    return {
      gateway,
      [Symbol.dispose]: () => {
        if (isLeft) return;
        isLeft = true;
        this.#left(gateway);
      },
    };
  }

  #left(gateway: string): void {
    this.#running -= 1;
    const held = (this.#held.get(gateway) ?? 1) - 1;
    if (held > 0) this.#held.set(gateway, held);
    else this.#held.delete(gateway);
    // Sorting is stable: of those with as few places the one that came first.
    const [next] = this.#line.toSorted((a, b) => (this.#held.get(a.gateway) ?? 0) - (this.#held.get(b.gateway) ?? 0));
    if (next) {
      this.#line = this.#line.filter((waiting) => waiting !== next);
      next.enter(this.#taken(next.gateway));
    } else this.#changed();
  }
}
