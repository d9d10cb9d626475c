// Decides whether history may be deleted by the current clock: a clock that is ahead would delete recent history.
import { DAY_MS } from '@strata/analytics';
import type { Store } from './index.ts';

const HOUR_MS = 3_600_000;

/**
 * Compares the clock with the latest accepted time, which the store keeps, or else with the newest scan. A clock that is more than a
 * day later is accepted after it has been consistent with the monotonic clock for a day. Scans and restarts do not shorten this.
 */
export class PlausibleClock {
  readonly #retention: Pick<Store['retention'], 'acceptedTime' | 'acceptTime'>;
  readonly #steadyMs: () => number;
  #pending: { readonly offsetMs: number; readonly sinceMs: number } | undefined;

  constructor(
    retention: Pick<Store['retention'], 'acceptedTime' | 'acceptTime'>,
    steadyMs = (): number => performance.now(),
  ) {
    this.#retention = retention;
    this.#steadyMs = steadyMs;
  }

  /** The accepted time that `at` exceeds by too much; undefined if `at` is accepted. */
  async refusedBy(at: Date): Promise<Date | undefined> {
    const accepted = await this.#retention.acceptedTime();
    if (accepted && at.getTime() - accepted.getTime() > DAY_MS) {
      const steadyMs = this.#steadyMs();
      const offsetMs = at.getTime() - steadyMs;
      if (!this.#pending || Math.abs(offsetMs - this.#pending.offsetMs) > HOUR_MS)
        this.#pending = { offsetMs, sinceMs: steadyMs };
      if (steadyMs - this.#pending.sinceMs < DAY_MS) return accepted;
    }
    this.#pending = undefined;
    await this.#retention.acceptTime(at);
    return undefined;
  }
}
