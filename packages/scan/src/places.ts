// So many at once, the rest in line: first come, first served.

export class Places {
  readonly #limit: number;
  readonly #line: (() => void)[] = [];
  #head = 0;
  #inside = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Waits for a place; undefined when there is one at once. Give it back with `leave`. */
  enter(): Promise<void> | undefined {
    if (this.#inside < this.#limit) {
      this.#inside += 1;
      return undefined;
    }
    return new Promise((resolve) => this.#line.push(resolve));
  }

  /** The first in line, if there is one, takes the place that comes free. */
  leave(): void {
    const next = this.#line[this.#head];
    if (next === undefined) this.#inside -= 1;
    else {
      this.#head += 1;
      next();
    }
    if (this.#head < this.#line.length && this.#head < 1_024) return;
    // What has been served is let go of, in one move a thousand.
    this.#line.splice(0, this.#head);
    this.#head = 0;
  }
}
