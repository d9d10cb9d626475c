// The clock of a database: the server's time, read periodically and advanced by this machine's monotonic clock. It does not
// depend on the machine's wall clock.
import { type Kysely, sql } from 'kysely';
import type { CommonTables } from '../tables.ts';

/** Monotonic clocks drift by less than a millisecond in this time; after a suspension the clock is behind for at most as long. */
const SYNC_INTERVAL_MS = 10_000;

export class SharedClock {
  readonly #db: Kysely<CommonTables>;
  /** The server's time when the monotonic clock was 0. */
  #base = Number.NaN;
  #syncedAt = Number.NEGATIVE_INFINITY;

  private constructor(db: Kysely<CommonTables>) {
    this.#db = db;
  }

  /** Rejects with StoreError if the server does not respond. */
  static async open(db: Kysely<CommonTables>): Promise<SharedClock> {
    const clock = new SharedClock(db);
    await clock.#sync();
    return clock;
  }

  /** While the server does not respond, the clock continues from the last synchronization. */
  readonly now = (): Date => {
    const steady = performance.now();
    if (steady - this.#syncedAt >= SYNC_INTERVAL_MS) this.#sync().catch(() => {});
    return new Date(Math.round(this.#base + steady));
  };

  async #sync(): Promise<void> {
    // Set first, so that concurrent calls of `now` do not synchronize as well.
    this.#syncedAt = performance.now();
    // The connection is acquired first, so that waiting for one does not count as round-trip time.
    await this.#db.connection().execute(async (connection) => {
      const sentAt = performance.now();
      const query = sql<{ now: number }>`select extract(epoch from clock_timestamp()) * 1000 as now`;
      const { rows } = await query.execute(connection);
      const receivedAt = performance.now();
      this.#adjust(Number(rows[0]?.now) - (sentAt + receivedAt) / 2, (receivedAt - sentAt) / 2);
    });
  }

  /** Adjusts the clock only by the part of a difference that exceeds the uncertainty of the measurement, so that time does not oscillate. */
  #adjust(base: number, uncertaintyMs: number): void {
    const nearest = Math.min(Math.max(this.#base, base - uncertaintyMs), base + uncertaintyMs);
    this.#base = Number.isNaN(nearest) ? base : nearest;
  }
}
