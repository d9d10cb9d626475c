// How many answers are made and wait at once: beyond that a caller is better told so than left waiting.
import { CompletionError } from '@strata/inference';

export class Admission {
  readonly #most: number;
  #inside = 0;

  /** `most` answers inside at once, waiting ones included. */
  constructor(most: number) {
    this.#most = most;
  }

  get inside(): number {
    return this.#inside;
  }

  /** A place for so many answers, until disposed. Throws CompletionError `overloaded`. */
  enter(answers: number): Disposable {
    if (this.#inside + answers > this.#most)
      throw new CompletionError('overloaded', 'All places are taken; try again in a moment.', { retryAfterMs: 1_000 });
    this.#inside += answers;
    let isOver = false;
    return {
      [Symbol.dispose]: () => {
        if (!isOver) this.#inside -= answers;
        isOver = true;
      },
    };
  }
}
