// Flow control: the number of tokens that may be sent before the gateway grants more. Generation stops when it is used
// up.
export class Credit {
  #tokens: number;
  #wake: () => void = () => {};

  constructor(tokens: number) {
    this.#tokens = tokens;
  }

  grant(tokens: number): void {
    this.#tokens += tokens;
    this.#wake();
  }

  /** Uses one token of credit, which must be available. */
  spend(): void {
    this.#tokens -= 1;
  }

  get isSpent(): boolean {
    return this.#tokens <= 0;
  }

  /** Waits until credit is available; rejects with the signal's reason. */
  async some(signal: AbortSignal): Promise<void> {
    while (this.isSpent) {
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const stop = () => reject(signal.reason);
      this.#wake = resolve;
      signal.addEventListener('abort', stop, { once: true });
      await promise.finally(() => signal.removeEventListener('abort', stop));
    }
  }
}
