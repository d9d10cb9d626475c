// At most so many at once for each key: two visits at one address, whoever shares it.

interface Place {
  count: number;
  /** Those who wait, first come first served. */
  readonly line: Set<() => void>;
}

export class KeyedLimit {
  readonly #limit: number;
  readonly #running = new Map<string, Place>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Keys with work under way. */
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
    const place = this.#running.get(key) ?? { count: 0, line: new Set() };
    this.#running.set(key, place);
    if (place.count >= this.#limit) await waitIn(place.line, signal);
    else place.count += 1;
    try {
      return await work();
    } finally {
      // Whoever is next takes over this place, so the count stays as it is.
      const [next] = place.line;
      if (next) next();
      else {
        place.count -= 1;
        if (place.count === 0) this.#running.delete(key);
      }
    }
  }
}

function waitIn(line: Set<() => void>, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      line.delete(enter);
      reject(signal?.reason);
    };
    const enter = () => {
      line.delete(enter);
      signal?.removeEventListener('abort', leave);
      resolve();
    };
    line.add(enter);
    signal?.addEventListener('abort', leave, { once: true });
  });
}
