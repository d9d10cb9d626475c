// How often something may happen for each key within a window; bounded memory, forgotten on restart.
import { LRUCache } from 'lru-cache';

export interface RateWindowOptions {
  readonly limit: number;
  readonly windowMs: number;
  readonly now: () => Date;
}

export class RateWindow {
  readonly #options: RateWindowOptions;
  readonly #windows = new LRUCache<string, { startedAt: number; count: number }>({ max: 50_000 });

  constructor(options: RateWindowOptions) {
    this.#options = options;
  }

  /** Counts one; 0 when it is allowed, else the seconds until it is again. */
  take(key: string): number {
    const { limit, windowMs, now } = this.#options;
    const at = now().getTime();
    let window = this.#windows.get(key);
    if (!window || at - window.startedAt >= windowMs) {
      window = { startedAt: at, count: 0 };
      this.#windows.set(key, window);
    }
    if (window.count >= limit) return Math.max(1, Math.ceil((window.startedAt + windowMs - at) / 1_000));
    window.count += 1;
    return 0;
  }

  /** One that was taken did not count after all. */
  giveBack(key: string): void {
    const window = this.#windows.get(key);
    if (window && window.count > 0) window.count -= 1;
  }
}
