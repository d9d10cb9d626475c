// For every two providers the number of domains that use both, updated incrementally, so that queries need not count.
import { grown } from '../columns/name-table.ts';

/** A triangular matrix, row by row: a new provider's row is appended, so nothing moves. */
export class PairCounts {
  #counts: Uint32Array<ArrayBuffer>;

  /** Takes ownership of the counts. */
  constructor(counts: Uint32Array<ArrayBuffer> = new Uint32Array(1 << 10)) {
    this.#counts = counts;
  }

  /** Counts every pair of distinct providers; `by` is 1 if the domain is added, -1 if it is removed. */
  count(providers: readonly number[], by: 1 | -1): void {
    for (let i = 1; i < providers.length; i += 1) {
      for (let j = 0; j < i; j += 1) {
        const at = indexOf(providers[i] as number, providers[j] as number);
        if (at >= this.#counts.length) this.#counts = grown(this.#counts, at + 1);
        this.#counts[at] = (this.#counts[at] as number) + by;
      }
    }
  }

  /** For a snapshot. */
  get counts(): Uint32Array<ArrayBuffer> {
    return this.#counts;
  }

  get byteLength(): number {
    return this.#counts.byteLength;
  }

  of(a: number, b: number): number {
    return a === b ? 0 : (this.#counts[indexOf(a, b)] ?? 0);
  }
}

function indexOf(a: number, b: number): number {
  return a > b ? (a * (a - 1)) / 2 + b : (b * (b - 1)) / 2 + a;
}
