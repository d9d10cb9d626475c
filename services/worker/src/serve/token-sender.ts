// Sends the tokens of one answer as far as the gateway grants credit, batched into frames when they are generated in
// quick succession. Generation stops while the credit is used up: at most one batch waits here.
import type { FrameOf } from '@strata/inference';
import { RequestFailure } from './failure.ts';

type SentToken = FrameOf<'tokens'>['tokens'][number];

/** Not noticeable; at 1,000 tokens per second a frame has 4 tokens. */
const COALESCE_MS = 4;
const MAX_TOKENS = 64;
/** How long a slot is kept for a gateway that grants no credit. */
const MAX_WAIT_MS = 120_000;

export interface TokenSenderOptions {
  /** The position of the first token in the answer. */
  readonly from: number;
  readonly credit: number;
  readonly send: (tokens: readonly SentToken[], position: number) => Promise<void>;
}

export class TokenSender {
  readonly #send: TokenSenderOptions['send'];
  #position: number;
  /** The number of tokens that may still be pushed. */
  #credit: number;
  #wake: () => void = () => {};
  #tokens: SentToken[] = [];
  #sentAtMs = Number.NEGATIVE_INFINITY;
  #sending: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor({ from, credit, send }: TokenSenderOptions) {
    this.#position = from;
    this.#credit = credit;
    this.#send = send;
  }

  /** The position after the last pushed token. */
  get end(): number {
    return this.#position + this.#tokens.length;
  }

  grant(tokens: number): void {
    this.#credit += tokens;
    this.#wake();
  }

  /** Waits until credit is available. Rejects with the signal's reason, or RequestFailure after the time limit. */
  async untilCredit(signal: AbortSignal): Promise<void> {
    if (this.#credit > 0) return;
    await this.flush();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const stop = () => reject(signal.reason);
    const late = new RequestFailure('busy', `the gateway granted no credit for ${MAX_WAIT_MS / 1_000} s`);
    const timer = setTimeout(() => reject(late), MAX_WAIT_MS);
    this.#wake = () => {
      if (this.#credit > 0) resolve();
    };
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    this.#wake();
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    }
  }

  /**
   * Uses one token of credit. Sends immediately, unless the previous frame was sent just before. Resolves when the next
   * token can be pushed.
   */
  async push(token: SentToken): Promise<void> {
    this.#credit -= 1;
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
