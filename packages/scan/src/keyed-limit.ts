// At most so many at once for each key: two visits at one address, whoever shares it.

export class KeyedLimit {
  readonly #limit: number;
  readonly #running = new Map<string, { count: number; readonly line: (() => void)[] }>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const state = this.#running.get(key) ?? { count: 0, line: [] };
    this.#running.set(key, state);
    if (state.count >= this.#limit) await new Promise<void>((resolve) => state.line.push(resolve));
    else state.count += 1;
    try {
      return await work();
    } finally {
      // The place goes to the next in line, so the count stays as it is.
      const next = state.line.shift();
      if (next) next();
      else {
        state.count -= 1;
        if (state.count === 0) this.#running.delete(key);
      }
    }
  }
}
