// Loads that fail are retried at growing intervals: a model that cannot be loaded is no loop of starting processes.
import { EngineError } from '../engine.ts';

/** The model is not loaded, and the request was not begun. */
export class NotLoadedError extends EngineError {
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs: number, options?: ErrorOptions) {
    super('not-loaded', message, options);
    this.retryAfterMs = retryAfterMs;
  }
}

/** Delay before the first retry; doubled with each further failure. */
const RETRY_MS = 5_000;
const MAX_RETRY_MS = 300_000;

export class LoadBackoff {
  readonly #nowMs: () => number;
  #failures = 0;
  #untilMs = 0;

  /** `nowMs`: a monotonic clock. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** 0: a load may be tried. */
  get remainingMs(): number {
    return this.#failures === 0 ? 0 : Math.max(0, this.#untilMs - this.#nowMs());
  }

  /** Throws NotLoadedError until the next retry. */
  check(id: string): void {
    const { remainingMs } = this;
    if (remainingMs > 0) throw new NotLoadedError(`${id} could not be loaded`, remainingMs);
  }

  /** Returns the delay before the next retry. */
  failed(): number {
    const delayMs = Math.min(RETRY_MS * 2 ** this.#failures, MAX_RETRY_MS);
    this.#failures += 1;
    this.#untilMs = this.#nowMs() + delayMs;
    return delayMs;
  }

  succeeded(): void {
    this.#failures = 0;
  }
}
