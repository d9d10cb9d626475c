// Tokens on their way, put together when they come faster than frames are worth.
import type { FrameOf } from '@strata/inference';

export type SentToken = FrameOf<'tokens'>['tokens'][number];

/** Nobody sees so short a wait; at 1,000 tokens a second it makes 4 tokens one frame. */
const COALESCE_MS = 4;
const MAX_TOKENS = 64;

export class TokenBatch {
  readonly #send: (tokens: readonly SentToken[], position: number) => Promise<void>;
  #position: number;
  #tokens: SentToken[] = [];
  #sentAtMs = Number.NEGATIVE_INFINITY;
  #sending: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  /** `from`: position of the first token in the answer. */
  constructor(from: number, send: (tokens: readonly SentToken[], position: number) => Promise<void>) {
    this.#position = from;
    this.#send = send;
  }

  /** Position after the last token that was pushed. */
  get end(): number {
    return this.#position + this.#tokens.length;
  }

  /** Sent at once unless something was sent just now. Resolves when there is room for the next one. */
  async push(token: SentToken): Promise<void> {
    this.#tokens.push(token);
    const waitMs = this.#sentAtMs + COALESCE_MS - performance.now();
    if (waitMs <= 0 || this.#tokens.length >= MAX_TOKENS) await this.flush();
    // A channel that is over ends the job; there is nobody to tell here.
    else this.#timer ??= setTimeout(() => this.flush().catch(() => {}), waitMs);
  }

  /** Resolves when all is sent; rejects when the channel is over. */
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

  /** Nothing more is sent. */
  drop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#tokens = [];
  }
}
