// Figures of all domains that requests use without a question: from the index, or kept for a while from the tables.
import { type Analytics, ChangeHistory } from '@strata/analytics';
import type { Store } from '../store/index.ts';

export interface KnownDomains {
  /** Number of scanned domains. */
  readonly size: number;
  /** Number of domains that use a provider; undefined for one that is not known. */
  usersOf(provider: string): number | undefined;
  /** The changes and scans of each day, at least since this one. Rejects until the figures are known. */
  historySince(day: number): Promise<ChangeHistory>;
}

/** The number of domains changes slowly, and providers that are in no catalog appear with another catalog. */
const KEPT_MS = 60_000;
const PROVIDERS_AT_ONCE = 500;

export interface TableFiguresDeps {
  readonly analytics: Analytics;
  readonly store: Pick<Store, 'feed'>;
  /** Monotonic, in milliseconds; `performance.now` by default. */
  readonly now?: () => number;
}

/** Figures of the tables; without any before the first refresh. */
export class TableFigures implements KnownDomains {
  readonly #deps: TableFiguresDeps;
  #size = 0;
  #users: ReadonlyMap<string, number> = new Map();
  #until = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(deps: TableFiguresDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#size;
  }

  usersOf(provider: string): number | undefined {
    return this.#users.get(provider);
  }

  async historySince(day: number): Promise<ChangeHistory> {
    await this.refresh();
    const history = new ChangeHistory();
    await this.#deps.store.feed.daysSince(day, {
      changeDays: (batch) => {
        for (const each of batch) history.addDay(each);
      },
      scanDays: (days) => {
        for (const { day: of, ...scans } of days) history.scans.add(of, scans);
      },
    });
    return history;
  }

  /** Reads them again if they are old; calls in the meantime share the read. Rejects while the tables are unavailable. */
  async refresh(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
  }

  async #read(): Promise<void> {
    const { analytics, now = () => performance.now() } = this.#deps;
    if (now() < this.#until) return;
    const users = new Map<string, number>();
    for (let after: readonly [number, string] | undefined, isMore = true; isMore; ) {
      const { leaders } = await analytics.leaders({ today: 0, limit: PROVIDERS_AT_ONCE, ...(after && { after }) });
      for (const { provider, domains } of leaders) users.set(provider, domains);
      const last = leaders.at(-1);
      if (last) after = [last.domains, last.provider];
      isMore = leaders.length === PROVIDERS_AT_ONCE;
    }
    const { total } = await analytics.search({ filter: {}, limit: 0, offset: 0 });
    [this.#size, this.#users, this.#until] = [total, users, now() + KEPT_MS];
  }
}
