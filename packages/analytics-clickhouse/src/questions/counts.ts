// Counts of all domains come from the tables of counts; those of a selection are computed from the rows of its domains by the
// same expressions: signs add up to the current rows.
import {
  type Market,
  type Markets,
  type MarketsOptions,
  marketOf,
  type Scorecard,
  scorecardOf,
  TREND_DAYS,
  withChanges,
} from '@strata/analytics';
import { type HOLDERS, ROLE_FACTS, SECTORS } from '@strata/detect';
import type { ClickHouse } from '../connection/clickhouse.ts';
import { factCounts, holderCounts, placementCounts } from '../export/fan-out.ts';
import { asked } from './ask.ts';
import { term } from './domain-sets.ts';
import { joined, raw, type Sql, sql } from './sql.ts';

const COMPUTED = {
  placement_counts: placementCounts,
  fact_counts: factCounts,
  holder_counts: holderCounts,
} as const;
/** Replaced by the rows of the domains of a set. */
const SOURCE = 'FROM source';

/** The rows of a table of counts, of all domains or of those of a set. */
export function countsIn(table: keyof typeof COMPUTED, within: Sql | undefined): Sql {
  if (!within) return raw(table);
  const source = sql`FROM domains WHERE bitmapContains(${within}, id)`;
  return sql`(${joined(COMPUTED[table](SOURCE).split(SOURCE).map(raw), source)})`;
}

interface UserRow {
  readonly market: string;
  readonly provider: string;
  /** Providers that share the domains. */
  readonly shared: number;
  readonly domains: number;
}
interface HolderRow {
  readonly market: string;
  readonly holder: (typeof HOLDERS)[number];
  readonly domains: number;
}

export async function marketsOf(
  clickhouse: ClickHouse,
  { categories, roles, includeParked = false, changes, within: selection, ...options }: MarketsOptions,
  within: Sql | undefined,
): Promise<Markets> {
  const states = includeParked ? ['active', 'parked'] : ['active'];
  const read = async (kind: 'category' | 'role', names: readonly string[]) => {
    if (names.length === 0) return () => ({ held: () => 0, users: [] });
    const column = raw(kind);
    const shared = raw(`in_${kind}`);
    const users = await asked<UserRow>(
      clickhouse,
      sql`SELECT toString(${column}) AS market, toString(provider) AS provider, ${shared} AS shared, sum(n) AS domains
        FROM ${countsIn('placement_counts', within)}
        WHERE level != 'low' AND state IN ${states} AND ${column} IN ${names}
        GROUP BY market, provider, shared HAVING domains > 0 ORDER BY shared`,
    );
    const holders = await asked<HolderRow>(
      clickhouse,
      sql`SELECT toString(market) AS market, toString(holder) AS holder, sum(n) AS domains
        FROM ${countsIn('holder_counts', within)}
        WHERE market_kind = ${kind} AND state IN ${states} AND market IN ${names} GROUP BY market, holder`,
    );
    const usersOf = Map.groupBy(users, ({ market }) => market);
    return (name: string) => ({
      held: (holder: HolderRow['holder']) =>
        holders.find((row) => row.market === name && row.holder === holder)?.domains ?? 0,
      users: usersIn(usersOf.get(name) ?? []),
    });
  };
  const ofCategory = await read('category', categories);
  const ofRole = await read('role', roles);
  const movedIn = changes && !selection ? await movements(clickhouse, changes.today) : undefined;
  const moved = <Of extends Market>(market: Of): Of => {
    if (!changes || !movedIn) return market;
    return withChanges(market, changes.first, (provider) => movedIn.get(`${market.category} ${provider}`) ?? 0);
  };
  return {
    categories: categories.map((category) => moved(marketOf({ category, role: null }, ofCategory(category), options))),
    roles: roles.map((role) => {
      const { category } = ROLE_FACTS[role];
      return { ...moved(marketOf({ category, role }, ofRole(role), options)), role };
    }),
  };
}

/** A domain with k providers counts 1/k for each; summed in the order of k, as in memory. */
function usersIn(rows: readonly UserRow[]) {
  return [...Map.groupBy(rows, ({ provider }) => provider)].map(([provider, shares]) => ({
    provider,
    domains: shares.reduce((sum, { domains }) => sum + domains, 0),
    weight: shares.reduce((sum, { domains, shared }) => sum + domains / shared, 0),
  }));
}

/** Net change of each provider in each category within 30 days. */
async function movements(clickhouse: ClickHouse, today: number): Promise<ReadonlyMap<string, number>> {
  const rows = await asked<{ key: string; change: number }>(
    clickhouse,
    sql`SELECT concat(category, ' ', provider) AS key, sum(gained) - sum(lost) AS change FROM change_days
      WHERE day >= ${today - TREND_DAYS + 1} AND day <= ${today} GROUP BY key`,
  );
  return new Map(rows.map(({ key, change }) => [key, change]));
}

interface FactRow {
  readonly kind: 'domain' | 'flag' | 'score';
  readonly value: string;
  readonly sector: string;
  readonly domains: number;
}

export async function scorecardIn(clickhouse: ClickHouse, within: Sql | undefined): Promise<Scorecard> {
  const rows = await asked<FactRow>(
    clickhouse,
    sql`SELECT toString(kind) AS kind, toString(value) AS value, toString(sector) AS sector, sum(n) AS domains
      FROM ${countsIn('fact_counts', within)} WHERE state IN ('active', 'parked') GROUP BY kind, value, sector`,
  );
  const counts = new Map<string, number>();
  for (const { kind, value, sector, domains } of rows)
    for (const group of [sector, '']) {
      const key = `${kind} ${value} ${group}`;
      counts.set(key, (counts.get(key) ?? 0) + domains);
    }
  const count = (kind: FactRow['kind'], value: string, sector: number | undefined) =>
    counts.get(`${kind} ${value} ${sector === undefined ? '' : SECTORS[sector]}`) ?? 0;
  const live = sql`bitmapOr(${term('state', 'active')}, ${term('state', 'parked')})`;
  const both = (a: string, b: string) =>
    [live, term('flag', a), term('flag', b), ...(within ? [within] : [])].reduce((x, y) => sql`bitmapAnd(${x}, ${y})`);
  const [row] = await asked<{ valid: number; measured: number }>(
    clickhouse,
    sql`SELECT bitmapCardinality(${both('spf_valid', 'dmarc_valid')}) AS valid,
      bitmapCardinality(${both('spf_measured', 'dmarc_measured')}) AS measured`,
  );
  return scorecardOf({
    domains: (sector) => count('domain', '', sector),
    flag: (flag, sector) => count('flag', flag, sector),
    score: (score, sector) => count('score', String(score), sector),
    both: { domains: row?.valid ?? 0, measured: row?.measured ?? 0 },
  });
}
