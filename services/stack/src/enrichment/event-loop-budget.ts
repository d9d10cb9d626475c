// Splits long work into short slices, so that the event loop serves requests in between.

/** Maximum duration of a slice. */
const SLICE_MS = 8;

export class EventLoopBudget {
  #since = performance.now();

  /** Yields to the event loop if the slice is used up. */
  async yieldIfSpent(): Promise<void> {
    if (performance.now() - this.#since < SLICE_MS) return;
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.#since = performance.now();
  }
}
