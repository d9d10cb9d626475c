// The last reputation of each worker, stored for the inference service.

import { writePipelined } from '@strata/db';
import type { Kysely } from 'kysely';
import type { GatewayDatabase } from './tables.ts';

/** Reputations by peer id, as JSON. */
export interface Reputations {
  all(): Promise<ReadonlyMap<string, string>>;
  put(peer: string, reputation: string): Promise<void>;
  remove(peer: string): Promise<void>;
}

export class ReputationTable implements Reputations {
  readonly #db: Kysely<GatewayDatabase>;

  constructor(db: Kysely<GatewayDatabase>) {
    this.#db = db;
  }

  async all(): Promise<ReadonlyMap<string, string>> {
    const rows = await this.#db.selectFrom('standings').selectAll().execute();
    return new Map(rows.map(({ peer, standing }) => [peer, standing]));
  }

  async put(peer: string, standing: string): Promise<void> {
    const putting = this.#db
      .insertInto('standings')
      .values({ peer, standing })
      .onConflict((conflict) => conflict.column('peer').doUpdateSet({ standing }));
    await writePipelined(this.#db, [putting.compile()]);
  }

  async remove(peer: string): Promise<void> {
    const removing = this.#db.deleteFrom('standings').where('peer', '=', peer);
    await writePipelined(this.#db, [removing.compile()]);
  }
}
