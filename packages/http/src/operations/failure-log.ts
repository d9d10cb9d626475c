// Logs an operation that is retried: the first failure in full, then one line a minute, and one after recovery.
import type { Logger } from 'pino';

export interface FailureLogOptions {
  /** The operation, as the beginning of a log line: `reading the positions of the logs`. */
  readonly what: string;
  readonly monotonicNow?: () => number;
}

/** Repeated stack traces add nothing: with one retry a second a night would have 30,000. */
const REMIND_MS = 60_000;

export class FailureLog {
  readonly #logger: Logger;
  readonly #what: string;
  readonly #now: () => number;
  #failing: { readonly since: number; reportedAt: number; failures: number } | undefined;

  constructor(logger: Logger, { what, monotonicNow = () => performance.now() }: FailureLogOptions) {
    this.#logger = logger;
    this.#what = what;
    this.#now = monotonicNow;
  }

  failed(error: unknown): void {
    const now = this.#now();
    if (this.#failing === undefined) {
      this.#failing = { since: now, reportedAt: now, failures: 1 };
      this.#logger.error({ err: error }, `${this.#what} failed: will retry`);
      return;
    }
    this.#failing.failures += 1;
    if (now - this.#failing.reportedAt < REMIND_MS) return;
    this.#failing.reportedAt = now;
    const { failures } = this.#failing;
    this.#logger.error({ failures, reason: (error as Error).message }, `${this.#what} still fails`);
  }

  /** The operation succeeded: logs it after failures. */
  recovered(): void {
    if (this.#failing === undefined) return;
    const { since, failures } = this.#failing;
    this.#failing = undefined;
    this.#logger.info({ failures, seconds: Math.round((this.#now() - since) / 1_000) }, `${this.#what} recovered`);
  }
}
