// What the engines of a set's patterns learn of texts is forgotten in time, so that strangers' pages cannot fill the memory.
import type { LinearRegex } from './pattern.ts';

/**
 * An engine keeps the states that texts lead it to, up to 8 MiB each. A state costs at least a step, at most some bytes a
 * step: so many steps leave some hundred mebibytes at the very worst, and usual pages take a hundredth of it.
 */
const MAX_STEPS = 2 ** 28;

/** Of one compiled set. */
export class EngineMemory {
  readonly #used = new Set<Pick<LinearRegex, 'forget'>>();
  #steps = 0;

  /** Counts steps that an engine is about to take; past the bound all engines begin anew. */
  count(regex: Pick<LinearRegex, 'forget'>, steps: number): void {
    this.#steps += steps;
    if (this.#steps > MAX_STEPS) {
      for (const used of this.#used) used.forget();
      this.#used.clear();
      this.#steps = steps;
    }
    this.#used.add(regex);
  }
}
