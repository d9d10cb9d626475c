// A fixed-window rate limiter by key, or by address and its networks; bounded memory, reset on restart.

import type { CountedNetwork } from './counted-address.ts';
import { countedCache } from './counted-cache.ts';

export interface RateWindowOptions {
  /** Per key, or per address. */
  readonly limit: number;
  readonly windowMs: number;
  readonly now: () => Date;
}

interface Window {
  startedAt: number;
  count: number;
}

export class RateWindow {
  readonly #options: RateWindowOptions;
  readonly #windows = countedCache<Window>(50_000);

  constructor(options: RateWindowOptions) {
    this.#options = options;
  }

  /**
   * Counts one event; returns 0 if it is allowed, otherwise the seconds to wait. Of networks, all must allow it, and
   * each counts it.
   */
  take(of: string | readonly CountedNetwork[]): number {
    const { limit, windowMs, now } = this.#options;
    const at = now().getTime();
    const windows = countedIn(of).map(({ name, times }) => ({ window: this.#windowAt(name, at), max: limit * times }));
    const full = windows.filter(({ window, max }) => window.count >= max);
    if (full.length > 0) {
      const startedAt = Math.max(...full.map(({ window }) => window.startedAt));
      return Math.max(1, Math.ceil((startedAt + windowMs - at) / 1_000));
    }
    for (const { window } of windows) window.count += 1;
    return 0;
  }

  /** Takes back an event that was counted. */
  refund(of: string | readonly CountedNetwork[]): void {
    for (const { name } of countedIn(of)) {
      const window = this.#windows.get(name);
      if (window && window.count > 0) window.count -= 1;
    }
  }

  #windowAt(name: string, at: number): Window {
    const known = this.#windows.get(name);
    // A clock that was set back starts a new window: otherwise nothing would be allowed until it catches up.
    if (known && at >= known.startedAt && at - known.startedAt < this.#options.windowMs) return known;
    const window = { startedAt: at, count: 0 };
    this.#windows.set(name, window);
    return window;
  }
}

const countedIn = (of: string | readonly CountedNetwork[]): readonly CountedNetwork[] =>
  typeof of === 'string' ? [{ name: of, times: 1 }] : of;
