// What keys have used of a limit a minute, shared by all gateways of a PostgreSQL database: a row has the time when all of the limit is
// available again, so that it refills steadily, and by the clock of the database. What a killed gateway had reserved refills too.
import { executePipelined, integer, isPostgres } from '@strata/db';
import { type Kysely, sql } from 'kysely';
import type { GatewayDatabase } from './tables.ts';
import type { TokenReservations } from './token-reservations.ts';

export interface MinuteLimit {
  readonly name: 'requests' | 'tokens';
  /** Available at once, and again within a minute. */
  readonly limit: number;
}

const MINUTE_US = 60_000_000;
const now = sql<number>`cast(extract(epoch from statement_timestamp()) * 1000000 as bigint)`;

export class MinuteUsage {
  readonly #db: Kysely<GatewayDatabase>;

  /** `db`: of PostgreSQL. */
  constructor(db: Kysely<GatewayDatabase>) {
    if (!isPostgres(db)) throw new Error('only gateways on PostgreSQL share limits a minute');
    this.#db = db;
  }

  /** Reservations of one limit, whatever the gateway and the day. One statement each, so that two gateways cannot both take the last ones. */
  of({ name, limit }: MinuteLimit): Pick<TokenReservations, 'reserve' | 'add'> {
    const costOf = (amount: number) => integer(Math.ceil((amount * MINUTE_US) / limit));
    const accountOf = (keyId: string) => sql`cast(${`${name} ${keyId}`} as text)`;
    const usedIn = (microseconds: number) => Math.ceil((microseconds * limit) / MINUTE_US);
    return {
      reserve: async ({ keyId }, { tokens }) => {
        if (tokens > limit) return { isReserved: false, used: 0 };
        const cost = costOf(tokens);
        const account = accountOf(keyId);
        const [reserved, read] = await executePipelined(this.#db, [
          sql<{ readonly ahead: number }>`insert into minute_usage as kept (account, full_at)
            values (${account}, ${now} + ${cost})
            on conflict (account) do update set full_at = greatest(kept.full_at, ${now}) + ${cost}
            where greatest(kept.full_at, ${now}) + ${cost} <= ${now} + ${integer(MINUTE_US)}
            returning full_at - ${now} as ahead`.compile(this.#db),
          sql<{ readonly ahead: number }>`select greatest(0, full_at - ${now}) as ahead from minute_usage
            where account = ${account}`.compile(this.#db),
        ]);
        return { isReserved: reserved.rows.length > 0, used: usedIn(read.rows[0]?.ahead ?? 0) };
      },
      add: async ({ keyId }, tokens) => {
        const cost = costOf(tokens);
        const [{ rows }] = await executePipelined(this.#db, [
          sql<{ readonly ahead: number }>`insert into minute_usage as kept (account, full_at)
            values (${accountOf(keyId)}, ${now} + greatest(0, ${cost}))
            on conflict (account) do update set full_at = greatest(${now}, greatest(kept.full_at, ${now}) + ${cost})
            returning full_at - ${now} as ahead`.compile(this.#db),
        ]);
        return usedIn(rows[0]?.ahead ?? 0);
      },
    };
  }
}
