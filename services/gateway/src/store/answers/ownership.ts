// Which gateway may write the records of an answer: the one that generates it, while no other one settles its records.
import { listedIn } from '@strata/db';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { GatewayDatabase } from '../tables.ts';

/** Whose records are written, and by whom. */
export interface Owned {
  readonly gateway: number;
  readonly settler: number;
  /** JSON: of answers that end, the ids of their receipts. */
  readonly ended: string;
}

/** Whether a gateway settles the records of one, which may be itself. */
export const settles = (settler: number, gateway: number): RawBuilder<boolean> =>
  sql`exists (select 1 from gateways where id = ${gateway} and settler = ${settler})`;

/** Whether that is so, and no other gateway has taken over one of the answers that end. */
export const isOwner = (db: Kysely<GatewayDatabase>, { gateway, settler, ended }: Owned): RawBuilder<boolean> =>
  sql`(${settles(settler, gateway)} and not exists (
    select 1 from begun_answers where gateway not in (select id from gateways where settler = ${settler})
      and id in ${listedIn<string>(db, ended, 'text')}))`;
