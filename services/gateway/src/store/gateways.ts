// The gateways of a database. Each process has a row while it runs; the row of a killed one stays until another gateway
// has settled its records. All writes take the writer lock: a gateway whose records another one settles writes nothing.
import { randomInt } from 'node:crypto';
import { writeTransaction } from '@strata/db';
import { type Kysely, sql } from 'kysely';
import { isStored, NO_SETTLER } from './answers/stored-answers.ts';
import type { GatewayDatabase } from './tables.ts';

export interface GatewayRow {
  readonly id: number;
  /** The gateway that settles its records: itself while it runs. */
  readonly settler: number;
  readonly heartbeat: number;
}

/** The gateway of all records from before several gateways could share a database. */
export const EARLIER_VERSIONS = 0;

export class GatewayTable {
  readonly #db: Kysely<GatewayDatabase>;
  readonly #heartbeats: Kysely<GatewayDatabase>;

  /** `heartbeats`: of another pool, so that heartbeats do not wait for other statements. */
  constructor(db: Kysely<GatewayDatabase>, heartbeats = db) {
    this.#db = db;
    this.#heartbeats = heartbeats;
  }

  /** Adds a gateway, which has stored nothing; returns its id. */
  async add(): Promise<number> {
    const id = randomInt(1, 2 ** 47);
    await writeTransaction(this.#db, (tx) =>
      tx
        .insertInto('gateways')
        // Receipts before these are not its own: its queries begin here.
        .values({ id, settler: id, heartbeat: 0, addresses: null, entered: newest })
        .execute(),
    );
    return id;
  }

  /** Reads up to where a gateway of an earlier version has entered its receipts: it may have run after the migration. */
  async readEarlier(): Promise<void> {
    const entered = sql<number>`(select cast(value as bigint) from settings where name = 'answers-entered')`;
    await this.#db
      .updateTable('gateways')
      .set({ entered })
      .where('id', '=', EARLIER_VERSIONS)
      .where('entered', '<', entered)
      .execute();
  }

  /** Shows that the gateway runs. False if another one settles its records: it must continue under another id. */
  async showRunning(id: number): Promise<boolean> {
    const { numUpdatedRows } = await this.#heartbeats
      .updateTable('gateways')
      .set((eb) => ({ heartbeat: eb('heartbeat', '+', 1) }))
      .where('id', '=', id)
      .where('settler', '=', id)
      .executeTakeFirst();
    return numUpdatedRows === 1n;
  }

  /** Where workers, and the gateways of this database, can reach it: multiaddrs with its peer id. */
  async publish(id: number, addresses: readonly string[]): Promise<void> {
    await this.#db
      .updateTable('gateways')
      .set({ addresses: JSON.stringify(addresses) })
      .where('id', '=', id)
      .execute();
  }

  /** All gateways but this one, without those that have ended as far as is known. */
  async siblingsOf(id: number): Promise<readonly (Pick<GatewayRow, 'id' | 'heartbeat'> & { addresses: string[] })[]> {
    const rows = await this.#db
      .selectFrom('gateways')
      .where('id', '<>', id)
      .whereRef('settler', '=', 'id')
      .select(['id', 'heartbeat', 'addresses'])
      .execute();
    return rows.map((row) => ({ ...row, addresses: JSON.parse(row.addresses ?? '[]') as string[] }));
  }

  /** Without those that have ended and have only stored answers left. */
  all(): Promise<readonly GatewayRow[]> {
    const begun = sql`select 1 from begun_answers where gateway = gateways.id`;
    const hasStoredOnly = sql`exists (${begun}) and not exists (${begun} and not ${isStored})`;
    return this.#db
      .selectFrom('gateways')
      .where(sql<boolean>`not (settler = ${NO_SETTLER} and ${hasStoredOnly})`)
      .select(['id', 'settler', 'heartbeat'])
      .orderBy('id')
      .execute();
  }

  /** Makes `by` the settler of a gateway that has ended; false if it has not, or if another one was faster. */
  claim({ id, settler, heartbeat }: GatewayRow, by: number): Promise<boolean> {
    return writeTransaction(this.#db, async (tx) => {
      const { numUpdatedRows } = await tx
        .updateTable('gateways')
        .set({ settler: by })
        .where('id', '=', id)
        .where('settler', '=', settler)
        .where('heartbeat', '=', heartbeat)
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    });
  }

  /**
   * Removes a gateway without records, and its reservations; one that has any stays for another gateway, which settles them.
   * One whose only records are stored answers has no reservations and no settler: each answer is taken over.
   */
  async remove(id: number, settler = id): Promise<void> {
    const begun = sql`select 1 from begun_answers where gateway = ${id}`;
    await writeTransaction(this.#db, async (tx) => {
      const { numUpdatedRows } = await tx
        .updateTable('gateways')
        .set({ settler: NO_SETTLER })
        .where('id', '=', id)
        .where('settler', '=', settler)
        .where(sql<boolean>`not exists (${begun} and not ${isStored})`)
        .where(isEntered(id))
        .executeTakeFirst();
      if (numUpdatedRows === 0n) return;
      await tx.deleteFrom('token_reservations').where('gateway', '=', id).execute();
      await tx.deleteFrom('gateways').where('id', '=', id).where(sql<boolean>`not exists (${begun})`).execute();
    });
  }

  /**
   * Bounds what a gateway that runs for long has: moves the start of its queries behind the receipts of other gateways, if its
   * own are all entered, and deletes reservations and usage of days before this one.
   */
  async tidy(id: number, day: string): Promise<void> {
    await writeTransaction(this.#db, async (tx) => {
      await tx
        .updateTable('gateways')
        .set({ entered: newest })
        .where('id', '=', id)
        .where('settler', '=', id)
        .where(isEntered(id))
        .execute();
      await tx.deleteFrom('token_reservations').where('gateway', '=', id).where('day', '<', day).execute();
      await tx.deleteFrom('account_usage').where('day', '<', day).execute();
      await tx
        .deleteFrom('minute_usage')
        .where('full_at', '<', Date.parse(day) * 1_000)
        .execute();
    });
  }
}

const newest = sql<number>`coalesce((select max(seq) from answer_receipts), 0)`;

/** Whether a gateway has no receipt that is stored and not entered. */
const isEntered = (id: number) => sql<boolean>`not exists (select 1 from answer_receipts
  where answer_receipts.gateway = ${id} and answer_receipts.seq > gateways.entered)`;
