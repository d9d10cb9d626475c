// A token bucket: filled at a steady rate up to its size, emptied by what is taken. Times are milliseconds.

export class RateBucket {
  readonly #size: number;
  readonly #perMs: number;
  #level: number;
  #at = Number.NEGATIVE_INFINITY;

  constructor(size: number, perMs: number) {
    this.#size = size;
    this.#perMs = perMs;
    this.#level = size;
  }

  /**
   * Takes so much, and returns 0; or takes nothing, and returns after how long it could. What is more than the bucket
   * holds may be taken from a full one: it is empty for so much longer afterwards.
   */
  take(now: number, amount: number): number {
    const { level } = this.at(now);
    const needed = Math.min(amount, this.#size);
    if (level < needed) return (needed - level) / this.#perMs;
    this.#level = level - amount;
    return 0;
  }

  /** Takes so much in any case. */
  spend(now: number, amount: number): void {
    this.#level = this.at(now).level - amount;
  }

  at(now: number): { readonly level: number; readonly fullAfterMs: number } {
    // A clock that goes back fills nothing.
    const passed = Number.isFinite(this.#at) ? Math.max(0, now - this.#at) : 0;
    this.#level = Math.min(this.#size, this.#level + passed * this.#perMs);
    this.#at = Math.max(this.#at, now);
    return { level: this.#level, fullAfterMs: (this.#size - this.#level) / this.#perMs };
  }
}
