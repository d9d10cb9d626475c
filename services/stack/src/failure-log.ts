// The log of something that is tried again and again: its first failure whole, then one line a minute, and one when it is over.
import type { Logger } from 'pino';

export interface FailureLogOptions {
  /** What is tried, as the beginning of a line: `looking for what other processes wrote`. */
  readonly what: string;
  readonly monotonicNow?: () => number;
}

/** Meanwhile there is nothing new to say: with a second between tries a night would be 30,000 stacks. */
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
      this.#logger.error({ err: error }, `${this.#what} failed: it is tried again`);
      return;
    }
    this.#failing.failures += 1;
    if (now - this.#failing.reportedAt < REMIND_MS) return;
    this.#failing.reportedAt = now;
    const { failures } = this.#failing;
    this.#logger.error({ failures, reason: (error as Error).message }, `${this.#what} still fails`);
  }

  /** It went well: says so where it failed before. */
  recovered(): void {
    if (this.#failing === undefined) return;
    const { since, failures } = this.#failing;
    this.#failing = undefined;
    this.#logger.info({ failures, seconds: Math.round((this.#now() - since) / 1_000) }, `${this.#what} goes on`);
  }
}
