// Selects the answers of a worker to audit: exactly one of each run. The length of a run follows from the share (50
// answers at 2 %). The audit is sent only after the run has ended, so a worker that recognises an audit learns only
// about answers that it has already given.

/**
 * Maximum number of missed audits to repay: a worker that could not be checked for a long time is not audited
 * permanently afterwards.
 */
const MAX_OWED = 10;

/** The current run of a worker. Stores one `Answer` at a time. */
export class AuditRun<Answer> {
  readonly #random: () => number;
  /**
   * Progress of this run, 0 to 1. It starts at a random value, so that even a few answers are audited with the
   * configured share.
   */
  #progress: number;
  #owed = 0;
  #weight = 0;
  #drawn: Answer | undefined;

  /** `random` returns numbers from 0 to below 1 that a worker cannot predict. */
  constructor(random: () => number) {
    this.#random = random;
    this.#progress = random();
  }

  /** The answer selected so far; its audit starts when the run ends. */
  get drawn(): Answer | undefined {
    return this.#drawn;
  }

  /**
   * Returns the answer to audit if this answer ends the run. Each answer of the run is selected with a chance
   * proportional to its weight. `share`: 0 to 1.
   */
  add(answer: Answer, { share, weight }: { readonly share: number; readonly weight: number }): Answer | undefined {
    if (share === 0) return undefined;
    // Weighted reservoir sampling with one element: each answer is kept with a probability proportional to its weight.
    this.#weight += weight;
    if (this.#random() * this.#weight < weight) this.#drawn = answer;
    const repaid = Math.min(this.#owed, share, 1 - share);
    this.#owed -= repaid;
    this.#progress += share + repaid;
    // Tolerance for binary fractions: fifty times 0.02 must end a run of fifty.
    if (this.#progress < 1 - 1e-9) return undefined;
    const audited = this.#drawn;
    this.#progress = Math.max(0, this.#progress - 1);
    this.#weight = 0;
    this.#drawn = undefined;
    return audited;
  }

  /** An audit failed to take place: subsequent runs are shorter until it is repaid. */
  owe(): void {
    this.#owed = Math.min(this.#owed + 1, MAX_OWED);
  }
}
