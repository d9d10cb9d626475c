// Limits how many tokens an answer may be ahead of its reader; generation waits when the reader does not consume.

/** Enough to bridge a short pause of the reader; negligible memory. */
export const MAX_AHEAD_TOKENS = 256;
/** The reader acknowledges after this many tokens: rarely enough to cost nothing. */
export const ACK_TOKENS = 64;

export class ReadAhead {
  readonly #signal: AbortSignal;
  #produced = 0;
  #consumed = 0;
  #wake: () => void = () => {};

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#wake(), { once: true });
  }

  /** A token was emitted. */
  produced(): void {
    this.#produced += 1;
  }

  /** Total number of tokens that the reader has consumed. */
  consumed(tokens: number): void {
    this.#consumed = tokens;
    this.#wake();
  }

  /**
   * Undefined while there is capacity for another token; otherwise resolves when there is, or when the job is aborted.
   */
  waitForCapacity(): Promise<void> | undefined {
    if (!this.#isFull()) return undefined;
    return new Promise((resolve) => {
      this.#wake = () => {
        if (!this.#isFull()) resolve();
      };
    });
  }

  #isFull(): boolean {
    return this.#produced - this.#consumed >= MAX_AHEAD_TOKENS && !this.#signal.aborted;
  }
}
