// What the accounts of policies have used in a period, kept as sums: the cost of a reservation does not grow with the history.
// An account gets a row at its first reservation in a period, with the usage until then; entering receipts adds to it in the
// transaction that counts them. Both hold the writer lock, so the row is always the sum of `token_usage`.
import { isPostgres, jsonRows, valuesOf } from '@strata/db';
import { type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely';
import type { GatewayDatabase } from '../tables.ts';
import { accountOf, accountPrefix, endOfPeriod, startOfPeriod, teamSubject } from './policy.ts';
import type { UsageSum } from './usage-sums.ts';

export interface AccountPeriod {
  /** A key or another account. */
  readonly keyId: string;
  /** UTC, `2026-01-31`: the last day of the account's period. */
  readonly day: string;
}

type Db = Kysely<GatewayDatabase>;

/** Usage of the period that is counted. A key without a policy has few rows a day, and no sum. */
export function usageOf({ keyId: account, day }: AccountPeriod): RawBuilder<number> {
  const counted = sumOf({ keyId: account, day });
  if (!isOfPolicy(account)) return counted;
  return sql`coalesce((select used from account_usage where account = ${account} and day = ${day}), ${counted})`;
}

/** The statement that makes the row of an account; none for a key without a policy. */
export function opening(db: Db, of: AccountPeriod, allowed: RawBuilder<boolean>): readonly CompiledQuery[] {
  if (!isOfPolicy(of.keyId)) return [];
  const text = (value: string) => (isPostgres(db) ? sql`cast(${value} as text)` : sql`${value}`);
  const known = sql`select 1 from account_usage where account = ${of.keyId} and day = ${of.day}`;
  const row = sql`insert into account_usage (account, day, used)
    select ${text(of.keyId)}, ${text(of.day)}, ${sumOf(of)} where not exists (${known}) and ${allowed}`;
  return [row.compile(db)];
}

const ADDED = { prefix: 'text', key_id: 'text', day: 'text', used: 'integer' } as const;
const COUNTED = [
  ['tokens', 'day'],
  ['spend', 'day'],
  ['spend', 'month'],
  ['spend', 'total'],
] as const;

/** The statement that adds a batch's usage to the rows of its keys and of their teams. */
export function adding(db: Db, used: readonly UsageSum[], allowed: RawBuilder<boolean>): CompiledQuery {
  const sums = new Map<string, Record<keyof typeof ADDED, string | number> & { used: number }>();
  for (const { key_id, day, prompt_tokens, completion_tokens, spend } of used)
    for (const [unit, period] of COUNTED) {
      const row = { prefix: accountPrefix(unit, period), key_id, day: endOfPeriod(day, period), used: 0 };
      const name = JSON.stringify(row);
      const sum = sums.get(name) ?? row;
      sum.used += unit === 'spend' ? spend : prompt_tokens + completion_tokens;
      sums.set(name, sum);
    }
  const rows = [...sums.values()].filter((sum) => sum.used > 0).map((sum) => valuesOf(ADDED, sum));
  return sql`with new as ${jsonRows(db, rows, ADDED)}
    update account_usage set used = account_usage.used + added.used from (
      select account, day, sum(used) as used from (
        select prefix || key_id as account, day, used from new
        union all select prefix || ${sql.lit(teamSubject(''))} || team, day, used
          from new join api_keys on api_keys.id = new.key_id where team is not null) as owned
      group by account, day) as added
    where account_usage.account = added.account and account_usage.day = added.day and ${allowed}`.compile(db);
}

const isOfPolicy = (account: string): boolean => account.includes(':');

function sumOf({ keyId: account, day: end }: AccountPeriod): RawBuilder<number> {
  const { unit, period, keyId, team } = accountOf(account);
  const amount = unit === 'spend' ? sql`spend` : sql`prompt_tokens + completion_tokens`;
  const owned =
    team === undefined ? sql`key_id = ${keyId}` : sql`key_id in (select id from api_keys where team = ${team})`;
  return sql`(select coalesce(sum(${amount}), 0) from token_usage where ${owned} and day >= ${startOfPeriod(end, period)})`;
}
