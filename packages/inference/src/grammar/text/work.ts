// A bound on the work of reading schemas, counted in steps: while they are read no other request is served.

/** A schema reached a bound. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge';
}

/** About 100 milliseconds. */
const MAX_STEPS = 140_000;

/** Schemas that share one are bounded together. */
export class Work {
  #steps = 0;

  /** Counts steps of less than a microsecond each. Throws TooLarge. */
  spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps > MAX_STEPS) throw new TooLarge('the schemas need too many steps together');
  }
}
