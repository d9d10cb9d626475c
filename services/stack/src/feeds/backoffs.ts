// What is left alone for a while: feeds by number, hosts by name.

export class Backoffs<Key> {
  readonly #until = new Map<Key, number>();
  readonly #now: () => Date;
  readonly #maxMs: number;

  constructor(now: () => Date, { maxMs }: { readonly maxMs: number }) {
    this.#now = now;
    this.#maxMs = maxMs;
  }

  /** Leaves it alone for so long, or for the most that is allowed; never for less than before. */
  begin(key: Key, ms: number): void {
    const until = this.#now().getTime() + Math.min(ms, this.#maxMs);
    if (!this.has(key) || until > (this.#until.get(key) ?? 0)) this.#until.set(key, until);
  }

  /** Whether it rests. One that would for longer than any may was begun by a clock that has gone back since, and is over. */
  has(key: Key): boolean {
    const until = this.#until.get(key);
    if (until === undefined) return false;
    const leftMs = until - this.#now().getTime();
    if (leftMs > 0 && leftMs <= this.#maxMs) return true;
    this.#until.delete(key);
    return false;
  }
}
