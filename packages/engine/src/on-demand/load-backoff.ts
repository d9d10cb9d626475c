// Loads that fail are retried at growing intervals, and so is a model whose processes crash again and again: neither is
// a loop of starting processes.
import { EngineError } from '../engine.ts';

/** The model is not loaded, and the request was not begun. The message is public. */
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
/** So many crashes within this time are more than an accident; a model loaded for so long without one is stable. */
const MAX_CRASHES = 3;
const CRASHES_MS = 600_000;
export const CRASHES = `${MAX_CRASHES} times in ${CRASHES_MS / 60_000} minutes`;

export class LoadBackoff {
  readonly #nowMs: () => number;
  #failures = 0;
  #untilMs = 0;
  #reason = '';
  #crashedAtMs: readonly number[] = [];
  /** Time of the last load, or of a crash after it. */
  #stableSinceMs = Number.POSITIVE_INFINITY;

  /** `nowMs`: a monotonic clock. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** 0: a load may be tried. */
  get remainingMs(): number {
    return Math.max(0, this.#untilMs - this.#nowMs());
  }

  /** Why no load may be tried at present. */
  get reason(): string | undefined {
    return this.remainingMs > 0 ? this.#reason : undefined;
  }

  /** Throws NotLoadedError until the next retry. */
  check(): void {
    const { remainingMs } = this;
    if (remainingMs > 0) throw new NotLoadedError(this.#reason, remainingMs);
  }

  /** Returns the delay before the next retry. */
  failed(reason: string): number {
    this.#resetIfStable();
    this.#stableSinceMs = Number.POSITIVE_INFINITY;
    const delayMs = Math.min(RETRY_MS * 2 ** this.#failures, MAX_RETRY_MS);
    this.#reason = reason;
    this.#failures += 1;
    this.#untilMs = this.#nowMs() + delayMs;
    return delayMs;
  }

  /** Records a crash of the loaded model. True: there were too many. */
  died(): boolean {
    this.#resetIfStable();
    const nowMs = this.#nowMs();
    this.#stableSinceMs = nowMs;
    this.#crashedAtMs = [...this.#crashedAtMs, nowMs].slice(-MAX_CRASHES);
    const [first = nowMs] = this.#crashedAtMs;
    return this.#crashedAtMs.length === MAX_CRASHES && nowMs - first < CRASHES_MS;
  }

  /** Records a load. The failures before it still count: the model may crash again. */
  succeeded(): void {
    this.#stableSinceMs = this.#nowMs();
  }

  #resetIfStable(): void {
    if (this.#nowMs() - this.#stableSinceMs >= CRASHES_MS) this.#failures = 0;
  }
}
