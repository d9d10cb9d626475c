// A token bucket: refilled at a constant rate up to its size. Times are in milliseconds.

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
   * Takes an amount and returns 0, or takes nothing and returns the time until the amount is available. More than the
   * bucket's size can be taken from a full bucket: it then takes longer to refill.
   */
  take(now: number, amount: number): number {
    const { level } = this.at(now);
    const needed = Math.min(amount, this.#size);
    if (level < needed) return (needed - level) / this.#perMs;
    this.#level = level - amount;
    return 0;
  }

  /** Takes an amount unconditionally; the level may become negative. */
  spend(now: number, amount: number): void {
    this.#level = this.at(now).level - amount;
  }

  at(now: number): { readonly level: number; readonly fullAfterMs: number } {
    // A clock that is set back refills nothing.
    const passed = Number.isFinite(this.#at) ? Math.max(0, now - this.#at) : 0;
    this.#level = Math.min(this.#size, this.#level + passed * this.#perMs);
    this.#at = Math.max(this.#at, now);
    return { level: this.#level, fullAfterMs: (this.#size - this.#level) / this.#perMs };
  }
}
