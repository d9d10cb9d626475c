// Counts the names that requests add on a UTC day below private suffixes (github.io, netlify.app), where names are free: by
// suffix, by address and in total, for all processes of the store.

import { writeTransaction } from '@strata/db';
import type { Kysely } from 'kysely';
import type { Database } from '../schema.ts';

export interface Bound {
  /** The counter, such as `suffix netlify.app`. */
  readonly subject: string;
  readonly limit: number;
}

export class OnDemandDays {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  /**
   * Counts one name for each bound and returns the day, or the bound that is reached. `day` is in days since the epoch. A
   * later day that was already counted remains the day, so that a clock set back does not reset the counts.
   */
  async take(day: number, bounds: readonly Bound[]): Promise<{ readonly day: number } | { readonly met: Bound }> {
    return writeTransaction(this.#db, async (tx) => {
      const latest = await tx
        .selectFrom('on_demand_days')
        .orderBy('day', 'desc')
        .limit(1)
        .select('day')
        .executeTakeFirst();
      const today = Math.max(day, latest?.day ?? day);
      await tx.deleteFrom('on_demand_days').where('day', '<', today).execute();
      const subjects = bounds.map(({ subject }) => subject);
      const rows = await tx
        .selectFrom('on_demand_days')
        .where('day', '=', today)
        .where('subject', 'in', subjects)
        .select(['subject', 'names'])
        .execute();
      const counts = new Map(rows.map(({ subject, names }) => [subject, names]));
      const met = bounds.find(({ subject, limit }) => (counts.get(subject) ?? 0) >= limit);
      if (met) return { met };
      await tx
        .insertInto('on_demand_days')
        .values(subjects.map((subject) => ({ day: today, subject, names: 1 })))
        .onConflict((conflict) =>
          conflict.columns(['day', 'subject']).doUpdateSet((eb) => ({ names: eb('on_demand_days.names', '+', 1) })),
        )
        .execute();
      return { day: today };
    });
  }

  /** Undoes `take` for a name that was not added. */
  async refund(day: number, bounds: readonly Bound[]): Promise<void> {
    await writeTransaction(this.#db, (tx) =>
      tx
        .updateTable('on_demand_days')
        .set((eb) => ({ names: eb('names', '-', 1) }))
        .where('day', '=', day)
        .where(
          'subject',
          'in',
          bounds.map(({ subject }) => subject),
        )
        .where('names', '>', 0)
        .execute(),
    );
  }
}
