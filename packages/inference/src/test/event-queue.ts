// Simulated time: what is to happen, soonest first; what is planned for the same time happens in the order of its planning.
export class EventQueue {
  /** Soonest last. */
  readonly #planned: { readonly atMs: number; readonly happen: () => void }[] = [];
  #nowMs = 0;

  get nowMs(): number {
    return this.#nowMs;
  }

  at(atMs: number, happen: () => void): void {
    let [from, to] = [0, this.#planned.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((this.#planned[middle]?.atMs ?? 0) > atMs) from = middle + 1;
      else to = middle;
    }
    this.#planned.splice(from, 0, { atMs, happen });
  }

  runUntil(endMs: number): void {
    for (let next = this.#planned.at(-1); next && next.atMs <= endMs; next = this.#planned.at(-1)) {
      this.#planned.pop();
      this.#nowMs = next.atMs;
      next.happen();
    }
  }
}
