// So many at once, the rest in line: first come, first served.

export class Places {
  /** How many may be inside; lowered, it takes effect as places come free. */
  limit: number;
  readonly #line: (() => void)[] = [];
  #head = 0;
  #inside = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  get inside(): number {
    return this.#inside;
  }

  /** Those in line. */
  get waiting(): number {
    return this.#line.length - this.#head;
  }

  /** Waits for a place; undefined when there is one at once. Give it back with `leave`. */
  enter(): Promise<void> | undefined {
    if (this.#inside < this.limit) {
      this.#inside += 1;
      return undefined;
    }
    return new Promise((resolve) => this.#line.push(resolve));
  }

  /** Whoever is next comes in: as many as the limit has room for, and one at least where nobody else is inside. */
  leave(): void {
    this.#inside -= 1;
    while (this.waiting > 0 && (this.#inside < this.limit || this.#inside === 0)) {
      const next = this.#line[this.#head];
      this.#head += 1;
      this.#inside += 1;
      next?.();
    }
    if (this.waiting > 0 && this.#head < 1_024) return;
    // What has been served is let go of, in one move a thousand.
    this.#line.splice(0, this.#head);
    this.#head = 0;
  }
}
