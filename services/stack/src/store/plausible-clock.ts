// Whether history may be deleted by a clock. One that is set ahead would delete history that is not old.
import { DAY_MS } from '@strata/analytics';
import type { Store } from '@strata/store';

const HOUR_MS = 3_600_000;

/**
 * Compares the clock with the latest time that was accepted, which the store keeps, or else with the newest scan. A clock that is more
 * than a day past that is accepted after it has been consistent with the steady clock for a day. A scan or a restart does not shorten this.
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

  /** Gives the accepted time that `at` is too far past; undefined where `at` is accepted. */
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
