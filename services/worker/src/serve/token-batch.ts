// Batches tokens into frames when they are generated in quick succession.
import type { FrameOf } from '@strata/inference';

export type SentToken = FrameOf<'tokens'>['tokens'][number];

/** Not noticeable; at 1,000 tokens per second a frame has 4 tokens. */
const COALESCE_MS = 4;
const MAX_TOKENS = 64;

export class TokenBatch {
  readonly #send: (tokens: readonly SentToken[], position: number) => Promise<void>;
  #position: number;
  #tokens: SentToken[] = [];
  #sentAtMs = Number.NEGATIVE_INFINITY;
  #sending: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  /** `from`: the position of the first token in the answer. */
  constructor(from: number, send: (tokens: readonly SentToken[], position: number) => Promise<void>) {
    this.#position = from;
    this.#send = send;
  }

  /** The position after the last pushed token. */
  get end(): number {
    return this.#position + this.#tokens.length;
  }

  /** Sends immediately, unless the previous frame was sent just before. Resolves when the next token can be pushed. */
  async push(token: SentToken): Promise<void> {
    this.#tokens.push(token);
    const waitMs = this.#sentAtMs + COALESCE_MS - performance.now();
    if (waitMs <= 0 || this.#tokens.length >= MAX_TOKENS) await this.flush();
    // A closed channel ends the job, which handles the error.
    else this.#timer ??= setTimeout(() => this.flush().catch(() => {}), waitMs);
  }

  /** Resolves when everything is sent; rejects if the channel is closed. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#tokens.length > 0) {
      this.#sending = this.#send(this.#tokens, this.#position);
      this.#position += this.#tokens.length;
      this.#tokens = [];
      this.#sentAtMs = performance.now();
    }
    return this.#sending;
  }

  /** Discards tokens that are not sent yet. */
  drop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#tokens = [];
  }
}
