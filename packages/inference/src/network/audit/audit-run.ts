// Which of a worker's answers are audited: exactly one of each run of them. A run ends after as many answers as the share asks
// for, fifty at 2 %, and only then is its audit told: who sees an audit learns of answers that are all given already.

/** Audits owed beyond are forgiven: a worker that nobody could check for long would else be checked all day. */
const MAX_OWED = 10;

/** The run that a worker is in. `Answer` is kept as it is, one at a time. */
export class AuditRun<Answer> {
  readonly #random: () => number;
  /** 0 to 1: of this run. It begins anywhere, so that of few answers, too, the share is audited. */
  #progress: number;
  #owed = 0;
  #weight = 0;
  #drawn: Answer | undefined;

  /** `random` from 0 to below 1, and nothing that a worker could foresee. */
  constructor(random: () => number) {
    this.#random = random;
    this.#progress = random();
  }

  /** The answer that waits for the end of its run. */
  get drawn(): Answer | undefined {
    return this.#drawn;
  }

  /** What is to be audited now, where this answer ends a run; each of its answers had a chance by its weight. `share` 0 to 1. */
  add(answer: Answer, { share, weight }: { readonly share: number; readonly weight: number }): Answer | undefined {
    if (share === 0) return undefined;
    // Reservoir sampling of one, by weight: whatever comes after, each has its weight's part of the whole.
    this.#weight += weight;
    if (this.#random() * this.#weight < weight) this.#drawn = answer;
    const repaid = Math.min(this.#owed, share, 1 - share);
    this.#owed -= repaid;
    this.#progress += share + repaid;
    // A run of fifty is one of fifty, whatever fifty times 0.02 is in binary.
    if (this.#progress < 1 - 1e-9) return undefined;
    const audited = this.#drawn;
    this.#progress = Math.max(0, this.#progress - 1);
    this.#weight = 0;
    this.#drawn = undefined;
    return audited;
  }

  /** An audit came to nothing: runs are shorter until it is made up for. */
  owe(): void {
    this.#owed = Math.min(this.#owed + 1, MAX_OWED);
  }
}
