// Providers by number of domains, their neighbours, and the numbers of everything.
import {
  DAY_MS,
  type Leaders,
  type LeadersOptions,
  MIN_SUPPORT,
  type Neighbourhood,
  STATES,
  type Statistics,
  TREND_DAYS,
} from '@strata/analytics';
import { CATEGORIES, type Category, type DomainState } from '@strata/detect';
import type { ClickHouse } from '../connection/clickhouse.ts';
import { asked } from './ask.ts';
import { ALL, type Size, sizesOf, term } from './domain-sets.ts';
import { migrationsIn } from './history.ts';
import { raw, type Sql, sql } from './sql.ts';

interface Users {
  readonly provider: string;
  readonly domains: number;
}

/** Every provider with at least one domain, most first, then by id. */
async function rankedIn(clickhouse: ClickHouse, within: Sql | undefined): Promise<Users[]> {
  if (within)
    return (await sizesOf(clickhouse, 'provider', { within })).map(({ value, count }) => ({
      provider: value,
      domains: count,
    }));
  return asked<Users>(
    clickhouse,
    sql`SELECT toString(provider) AS provider, sum(domains) AS domains FROM provider_counts
      GROUP BY provider HAVING domains > 0 ORDER BY domains DESC, provider`,
  );
}

async function sizeOf(clickhouse: ClickHouse, set: Sql): Promise<number> {
  const [row] = await asked<{ n: number }>(clickhouse, sql`SELECT bitmapCardinality(${set}) AS n`);
  return row?.n ?? 0;
}

export async function leadersIn(
  clickhouse: ClickHouse,
  { today, limit, after, providers }: LeadersOptions,
  within: Sql | undefined,
): Promise<Leaders> {
  const size = await sizeOf(clickhouse, within ?? ALL);
  const ranked = (await rankedIn(clickhouse, within)).map((each, i) => ({ ...each, rank: i + 1 }));
  const isWanted = ({ domains, provider }: Users) =>
    (!after || domains < after[0] || (domains === after[0] && provider > after[1])) &&
    (providers?.includes(provider) ?? true);
  const page = ranked.filter(isWanted).slice(0, limit);
  const ids = page.map(({ provider }) => provider);
  const categories = await categoriesOf(clickhouse, ids, within);
  const changes = within ? new Map<string, number>() : await changesOf(clickhouse, ids, today);
  const leaders = page.map(({ rank, provider, domains }) => ({
    ...{ rank, provider, domains, categories: categories(provider), share: domains / size },
    change30d: within ? null : (changes.get(provider) ?? 0),
  }));
  return { total: ranked.length, leaders };
}

async function categoriesOf(clickhouse: ClickHouse, providers: readonly string[], within: Sql | undefined) {
  const found = providers.length === 0 ? [] : await placementsIn(clickhouse, within, providers);
  const used = new Set(found.map(({ value }) => value));
  return (provider: string): Category[] => CATEGORIES.filter((category) => used.has(`${category} ${provider}`));
}

/** Domains of each placement, `category provider`: of all domains they are counted, the sets would be gigabytes. */
async function placementsIn(
  clickhouse: ClickHouse,
  within: Sql | undefined,
  providers?: readonly string[],
): Promise<readonly Size[]> {
  const values = providers?.flatMap((provider) => CATEGORIES.map((category) => `${category} ${provider}`));
  if (within) return sizesOf(clickhouse, 'placement', { within, ...(values && { values }) });
  return asked<Size>(
    clickhouse,
    sql`SELECT concat(category, ' ', provider) AS value, sum(n) AS count FROM placement_counts
      ${providers ? sql`WHERE provider IN ${providers}` : raw('')} GROUP BY value HAVING count > 0`,
  );
}

async function changesOf(clickhouse: ClickHouse, providers: readonly string[], today: number) {
  const rows =
    providers.length === 0
      ? []
      : await asked<{ provider: string; change: number }>(
          clickhouse,
          sql`SELECT toString(provider) AS provider, sum(entered) - sum(exited) AS change FROM change_days
            WHERE provider IN ${providers} AND day >= ${today - TREND_DAYS + 1} AND day <= ${today} GROUP BY provider`,
        );
  return new Map(rows.map(({ provider, change }) => [provider, change]));
}

/** The users of each provider in a set, and those of them in another one: every set of a provider is read once. */
function commonIn(clickhouse: ClickHouse, within: Sql, own: Sql): Promise<(Users & { readonly size: number })[]> {
  // In blocks of few sets, so that threads share them.
  return asked(
    clickhouse,
    sql`WITH ${within} AS matching, ${own} AS own
      SELECT provider, toInt64(bitmapCardinality(users)) AS size, toInt64(bitmapAndCardinality(users, own)) AS domains FROM (
        SELECT value AS provider, bitmapAnd(ids, matching) AS users FROM (
          SELECT value, groupBitmapXorMergeState(ids) AS ids FROM sets WHERE kind = 'provider' GROUP BY value
          SETTINGS max_block_size = 8))
      WHERE size > 0`,
  );
}

const soleOf = (provider: string): Sql =>
  sql`SELECT sum(sole) AS sole FROM provider_counts WHERE provider = ${provider}`;

/**
 * By role the domains that use the provider, without those of which other services have the role too. Only domains with a
 * removed row, which a merge has not summed yet, are grouped one by one.
 */
const soleIn = (provider: string, within: Sql): Sql =>
  sql`WITH ${within} AS matching,
      (SELECT groupUniqArray(id) FROM services WHERE provider = ${provider} AND n < 0) AS changed
    SELECT toInt64(groupBitmapOr(bitmapAnd(matching, bitmapAndnot(users, several)))) AS sole FROM (
      SELECT role, groupBitmapOrState(ids) AS users FROM (
        SELECT toString(role) AS role, if(id IN (SELECT arrayJoin(changed)), id, 0) AS alone, groupBitmapState(id) AS ids
        FROM services WHERE provider = ${provider} AND level != 'low'
        GROUP BY role, alone HAVING alone = 0 OR sum(n) > 0)
      GROUP BY role) AS used
    LEFT JOIN (
      SELECT value AS role, groupBitmapXorMergeState(ids) AS several FROM sets WHERE kind = 'shared' GROUP BY value) AS shared
    USING role`;

export async function neighboursIn(
  clickhouse: ClickHouse,
  provider: string,
  { ownerOf, within }: { readonly ownerOf: (provider: string) => string; readonly within: Sql | undefined },
): Promise<Neighbourhood> {
  const own = term('provider', provider);
  const selected = within && (await commonIn(clickhouse, within, own));
  const common =
    selected ??
    (await asked<Users>(
      clickhouse,
      sql`SELECT toString(b) AS provider, sum(n) AS domains FROM pair_counts WHERE a = ${provider}
        GROUP BY b HAVING domains > 0`,
    ));
  const users = selected ?? (await rankedIn(clickhouse, within)).map((each) => ({ ...each, size: each.domains }));
  const sizes = new Map(users.map(({ provider, size }) => [provider, size]));
  const [alone] = await asked<{ sole: number }>(clickhouse, within ? soleIn(provider, within) : soleOf(provider));
  const isOther = (other: string) => other !== provider && ownerOf(other) !== ownerOf(provider);
  return {
    population: await sizeOf(clickhouse, within ?? ALL),
    domains: sizes.get(provider) ?? 0,
    soleSourceDomains: alone?.sole ?? 0,
    neighbours: common
      .filter((each) => each.domains >= MIN_SUPPORT && isOther(each.provider))
      .map((each) => ({ ...each, size: sizes.get(each.provider) ?? 0 })),
  };
}

export async function statisticsIn(clickhouse: ClickHouse, now: number, within: Sql | undefined): Promise<Statistics> {
  const set = within ?? ALL;
  const countsOf = async (kind: 'state' | 'category') =>
    new Map((await sizesOf(clickhouse, kind, { within: set })).map(({ value, count }) => [value, count]));
  const states = await countsOf('state');
  const placements = await placementsIn(clickhouse, within);
  const categories = await countsOf('category');
  const migrations = async (days: number) =>
    (await migrationsIn(clickhouse, { since: now - days * DAY_MS + 1, until: now, limit: 1 }, within)).total;
  const [scans] = await asked<{ n: number }>(clickhouse, sql`SELECT sum(scans) AS n FROM scan_days`);
  const startsWith = (category: string) => placements.filter(({ value }) => value.startsWith(`${category} `)).length;
  return {
    domains: await sizeOf(clickhouse, set),
    byState: Object.fromEntries(STATES.map((state) => [state, states.get(state) ?? 0])) as Record<DomainState, number>,
    services: placements.reduce((sum, { count }) => sum + count, 0),
    providers: (await rankedIn(clickhouse, within)).length,
    migrations: { last24h: await migrations(1), last7d: await migrations(7), last30d: await migrations(30) },
    byCategory: CATEGORIES.map((category) => {
      return { category, domains: categories.get(category) ?? 0, providers: startsWith(category) };
    }),
    scans: scans?.n ?? 0,
  };
}
