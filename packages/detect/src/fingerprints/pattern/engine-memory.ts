// Limits the memory of a set's regex engines, which cache states for the texts that they run on, including hostile
// ones.
import type { LinearRegex } from './pattern.ts';

/**
 * An engine caches states, up to 8 MiB each. A state costs at least one step and at most some bytes per step: this many
 * steps amount to some hundred mebibytes in the worst case, and to a hundredth of that for usual pages.
 */
const MAX_STEPS = 2 ** 28;

/** One per compiled set. */
export class EngineMemory {
  readonly #used = new Set<Pick<LinearRegex, 'forget'>>();
  #steps = 0;

  /** Counts steps that an engine is about to take; at the limit all engines drop their caches. */
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
