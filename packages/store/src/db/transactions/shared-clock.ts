// What time it is for all processes of one database: the server's time, carried on by this machine's steady clock from one look to the
// next. A wall clock that is wrong, or is set, changes nothing of it.
import { type Kysely, sql } from 'kysely';
import type { Database } from '../../schema.ts';

/** Steady clocks drift by less than a millisecond in this time; a machine that slept is behind for as long at most. */
const LOOK_MS = 10_000;

export class SharedClock {
  readonly #db: Kysely<Database>;
  /** Time of the server when this machine's steady clock was at 0. */
  #base = Number.NaN;
  #lookedAt = Number.NEGATIVE_INFINITY;

  private constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  /** Rejects with StoreError where the server cannot be asked. */
  static async open(db: Kysely<Database>): Promise<SharedClock> {
    const clock = new SharedClock(db);
    await clock.#look();
    return clock;
  }

  /** While the server cannot be asked it goes on from the last look. */
  readonly now = (): Date => {
    const steady = performance.now();
    if (steady - this.#lookedAt >= LOOK_MS) this.#look().catch(() => {});
    return new Date(Math.round(this.#base + steady));
  };

  async #look(): Promise<void> {
    // At the beginning: whoever asks for the time meanwhile asks nobody.
    this.#lookedAt = performance.now();
    // With a connection in hand: the wait for one is no part of the answer's way.
    await this.#db.connection().execute(async (connection) => {
      const askedAt = performance.now();
      const asking = sql<{ now: number }>`select extract(epoch from clock_timestamp()) * 1000 as now`;
      const { rows } = await asking.execute(connection);
      const answeredAt = performance.now();
      this.#learn(Number(rows[0]?.now) - (askedAt + answeredAt) / 2, (answeredAt - askedAt) / 2);
    });
  }

  /** What lies within the look's own doubt is no news; of what lies beyond it only that much is. So time does not step back and forth. */
  #learn(base: number, doubtMs: number): void {
    const nearest = Math.min(Math.max(this.#base, base - doubtMs), base + doubtMs);
    this.#base = Number.isNaN(nearest) ? base : nearest;
  }
}
