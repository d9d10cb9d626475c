// The reputation of each worker, shared by the gateways of the database.
import { counterOf, incrementCounter, writeTransaction } from '@strata/db';
import type { Kysely } from 'kysely';
import type { GatewayDatabase } from './tables.ts';

/** Reputations by peer id, as JSON. */
export interface Reputations {
  /** Those that were written after a revision, or all, and the revision that they have. */
  read(after?: number): Promise<{ readonly revision: number; readonly texts: ReadonlyMap<string, string> }>;
  /** Writes what `change` makes of the stored text, in one transaction; undefined: none. Returns the text. */
  update(peer: string, change: (stored: string | undefined) => string | undefined): Promise<string | undefined>;
}

/** Name of the counter of revisions. */
const REVISION = 'standings';
const ALL = -1;

export class ReputationTable implements Reputations {
  readonly #db: Kysely<GatewayDatabase>;

  constructor(db: Kysely<GatewayDatabase>) {
    this.#db = db;
  }

  async read(after = ALL) {
    // First, so that a row that is written in between is read twice instead of never.
    const revision = await counterOf(this.#db, REVISION);
    if (revision === after) return { revision, texts: new Map<string, string>() };
    const rows = await this.#db.selectFrom('standings').where('revision', '>', after).selectAll().execute();
    return { revision, texts: new Map(rows.map(({ peer, standing }) => [peer, standing])) };
  }

  update(peer: string, change: (stored: string | undefined) => string | undefined): Promise<string | undefined> {
    return writeTransaction(this.#db, async (tx) => {
      const row = await tx.selectFrom('standings').where('peer', '=', peer).select('standing').executeTakeFirst();
      const standing = change(row?.standing);
      if (standing === undefined) {
        await tx.deleteFrom('standings').where('peer', '=', peer).execute();
        return undefined;
      }
      const revision = await incrementCounter(tx, REVISION);
      await tx
        .insertInto('standings')
        .values({ peer, standing, revision })
        .onConflict((conflict) => conflict.column('peer').doUpdateSet({ standing, revision }))
        .execute();
      return standing;
    });
  }
}
