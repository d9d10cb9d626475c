// Long work in short turns, so that other requests are answered in between.

/** Longer than this nobody else is kept waiting. */
const TURN_MS = 8;

export class EventLoopBudget {
  #since = performance.now();

  /** Lets others have their turn when this one has been long enough. */
  async yieldIfSpent(): Promise<void> {
    if (performance.now() - this.#since < TURN_MS) return;
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.#since = performance.now();
  }
}
