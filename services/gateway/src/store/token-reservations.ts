// What gateways have reserved of an account and not counted in its usage yet: the tokens of a key's day, or an account of a
// policy (access/policy.ts). What is left is the limit without usage and all reservations; entering a receipt counts its
// usage and ends that reservation atomically.
import { integer, isPostgres, StoreError, writePipelined } from '@strata/db';
import { type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely';
import { type AccountPeriod, opening, usageOf } from './access/account-usage.ts';
import { accountOf, startOfPeriod } from './access/policy.ts';
import type { GatewayDatabase } from './tables.ts';

export class TokenReservations {
  readonly #db: Kysely<GatewayDatabase>;

  constructor(db: Kysely<GatewayDatabase>) {
    this.#db = db;
  }

  /**
   * Reserves tokens for a gateway, unless usage and reservations would then exceed the limit. One statement under the writer
   * lock, so that two gateways cannot both reserve the last tokens. Returns whether it has, and the sum of both. Rejects with
   * StoreError `superseded`, as `add` does, if another gateway settles the records of this one.
   */
  async reserve(
    of: AccountPeriod & { readonly gateway: number },
    { tokens, limit }: { readonly tokens: number; readonly limit: number },
  ): Promise<{ readonly isReserved: boolean; readonly used: number }> {
    const allowed = sql<boolean>`${usedTokens(of)} + ${integer(tokens)} <= ${integer(limit)}`;
    return this.#write(of, tokens, allowed);
  }

  /** Adds to what a gateway has reserved, whatever the limit; negative: returns it. Returns the sum of usage and reservations. */
  async add(of: AccountPeriod & { readonly gateway: number }, tokens: number): Promise<number> {
    return (await this.#write(of, tokens, sql`true`)).used;
  }

  /** Tokens of all models that a key has used or reserved on a day or later; later days exist only if the clock was set back. */
  async used(of: AccountPeriod): Promise<number> {
    const { rows } = await this.#db.executeQuery(this.#sum(of));
    return rows[0]?.used ?? 0;
  }

  async #write(of: AccountPeriod & { readonly gateway: number }, tokens: number, allowed: RawBuilder<unknown>) {
    const running = sql`select 1 from gateways where ${isRunning(of.gateway)}`;
    const [adding, sum] = [this.#adding(of, tokens, allowed), this.#sum(of)];
    const opened = opening(this.#db, of, sql`exists (${running})`);
    const queries = [adding, sum, running.compile(this.#db), ...opened] as const;
    const [reserved, { rows }, found] = await writePipelined(this.#db, queries);
    if (found.rows.length === 0) throw new StoreError('superseded');
    return { isReserved: reserved.rows.length > 0, used: rows[0]?.used ?? 0 };
  }

  #sum(of: AccountPeriod): CompiledQuery<{ readonly used: number }> {
    return sql<{ readonly used: number }>`select ${usedTokens(of)} as used`.compile(this.#db);
  }

  #adding(
    { keyId, day, gateway }: AccountPeriod & { readonly gateway: number },
    tokens: number,
    allowed: RawBuilder<unknown>,
  ) {
    const text = (value: string) => (isPostgres(this.#db) ? sql`cast(${value} as text)` : sql`${value}`);
    return sql<{ readonly tokens: number }>`insert into token_reservations (key_id, day, gateway, tokens)
      select ${text(keyId)}, ${text(day)}, ${integer(gateway)}, ${integer(tokens)} where ${allowed}
        and exists (select 1 from gateways where ${isRunning(gateway)})
      on conflict (key_id, day, gateway) do update set tokens = token_reservations.tokens + excluded.tokens
      returning tokens`.compile(this.#db);
  }
}

/** Tokens that are reserved for a gateway without a row would stay reserved: none removes them. */
const isRunning = (gateway: number): RawBuilder<boolean> => sql`id = ${gateway} and settler = ${gateway}`;

function usedTokens(of: AccountPeriod): RawBuilder<number> {
  const start = startOfPeriod(of.day, accountOf(of.keyId).period);
  return sql`(${usageOf(of)}
    + (select coalesce(sum(tokens), 0) from token_reservations where key_id = ${of.keyId} and day >= ${start}))`;
}
