// How far an answer may be ahead of its reader: who does not read gets a bounded number of tokens, and no more are made.

/** Enough that a reader who is away for a moment holds nothing up, and nothing to speak of in memory. */
export const MAX_AHEAD_TOKENS = 256;
/** The reader tells each time it took so many: seldom enough to cost nothing. */
export const TAKEN_TOKENS = 64;

export class ReadAhead {
  readonly #signal: AbortSignal;
  #told = 0;
  #taken = 0;
  #wake: () => void = () => {};

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#wake(), { once: true });
  }

  /** A token was told. */
  told(): void {
    this.#told += 1;
  }

  /** The reader has so many, in all. */
  taken(tokens: number): void {
    this.#taken = tokens;
    this.#wake();
  }

  /** Undefined where there is room for another token; else resolves when there is, or when nobody reads any more. */
  wait(): Promise<void> | undefined {
    if (!this.#isFull()) return undefined;
    return new Promise((resolve) => {
      this.#wake = () => {
        if (!this.#isFull()) resolve();
      };
    });
  }

  #isFull(): boolean {
    return this.#told - this.#taken >= MAX_AHEAD_TOKENS && !this.#signal.aborted;
  }
}
