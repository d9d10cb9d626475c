// A page of domains: their number, the domains in an order, and counts by value.
import {
  type BuildCount,
  buildOrder,
  type DomainRow,
  type Facet,
  type FacetCounts,
  type IndexedService,
  MAX_FACET_VALUES,
  MAX_FIRST,
  type ProductBuild,
  type Search,
  type SearchAnswer,
  shownBy,
} from '@strata/analytics';
import { gradeOf } from '@strata/detect';
import type { ClickHouse } from '../connection/clickhouse.ts';
import { NO_SCORE, statesOf } from '../export/domain-row.ts';
import { asked } from './ask.ts';
import { ALL, buildOf, filteredSet, TIME_COLUMNS } from './domain-sets.ts';
import { joined, raw, type Sql, sql } from './sql.ts';

export async function searched(clickhouse: ClickHouse, search: Search): Promise<SearchAnswer> {
  const { filter, limit, facets = [] } = search;
  const set = filteredSet(filter) ?? ALL;
  const [[total], ids] = await Promise.all([
    asked<{ n: number }>(clickhouse, sql`SELECT bitmapCardinality(${set}) AS n`),
    limit === 0 ? [] : asked<{ id: number }>(clickhouse, pageOf(set, search)),
  ]);
  const domains = await rowsOf(
    clickhouse,
    ids.map(({ id }) => id),
  );
  const counts: FacetCounts[] = [];
  for (const facet of facets) counts.push(await facetOf(clickhouse, set, facet));
  return { total: total?.n ?? 0, domains, facets: counts };
}

/** The ids of the page. */
function pageOf(set: Sql, { filter, order, limit, offset, after }: Search): Sql {
  if (order) return orderedPage(set, { order, limit, offset, after });
  const [first] = filter.part?.split(' ') ?? [];
  const position = first ? sql`NOT startsWith(name, ${first}), name` : raw('name');
  const key = first ? sql`${after?.[1].startsWith(first) ? 0 : 1}, ${after?.[1] ?? ''}` : sql`${after?.[1] ?? ''}`;
  const isAfter = after ? sql`AND (${position}) > (${key})` : raw('');
  return sql`WITH ${set} AS matching SELECT id FROM names WHERE bitmapContains(matching, id) ${isAfter}
    GROUP BY name, id HAVING sum(n) > 0 ORDER BY ${position} LIMIT ${limit} OFFSET ${offset}`;
}

/** Domains without a value come last, in the order of names. */
function orderedPage(set: Sql, { order, limit, offset, after }: Required<Omit<Search, 'filter' | 'facets'>>): Sql {
  const { by, isDescending } = order ?? { by: 'score', isDescending: false };
  const sign = raw(isDescending ? '-' : '');
  const [value, none, values] =
    by === 'score'
      ? [
          sql`${sign}toInt64(any(score))`,
          NO_SCORE,
          raw('FROM domains WHERE bitmapContains(matching, id) GROUP BY id, seq HAVING sum(sign) > 0'),
        ]
      : [
          sql`${sign}toInt64(${TIME_COLUMNS[by].merged})`,
          0,
          raw('FROM times WHERE bitmapContains(matching, id) GROUP BY id'),
        ];
  const isMissing = sql`value = ${isDescending ? -none : none}`;
  const unitMs = by === 'score' ? 1 : TIME_COLUMNS[by].unitMs;
  const key = after && after[0] !== null ? (after[0] / unitMs) * (isDescending ? -1 : 1) : 0;
  const isAfter = after
    ? sql`WHERE (missing, if(missing, 0, value), name) > (${after[0] === null ? 1 : 0}, ${key}, ${after[1]})`
    : raw('');
  return sql`WITH ${set} AS matching SELECT id FROM (
      SELECT id, value, ${isMissing} AS missing, name FROM (SELECT id, ${value} AS value ${values}) AS valued
      INNER JOIN (SELECT id, name FROM names WHERE bitmapContains(matching, id) GROUP BY name, id HAVING sum(n) > 0) AS named USING id)
    ${isAfter} ORDER BY missing, if(missing, 0, value), name LIMIT ${limit} OFFSET ${offset}`;
}

interface TimesRow {
  readonly id: number;
  readonly scanned: number;
  readonly first: number;
  readonly changed: number;
}

/** What is known about these domains, in their order; a domain that was removed in the meantime is left out. */
export async function rowsOf(clickhouse: ClickHouse, ids: readonly number[]): Promise<DomainRow[]> {
  if (ids.length === 0) return [];
  const states = await statesOf(clickhouse, ids);
  const { scanned_at, first_seen, changed_at } = TIME_COLUMNS;
  const times = await asked<TimesRow>(
    clickhouse,
    sql`SELECT id, ${scanned_at.merged} AS scanned, ${first_seen.merged} AS first, ${changed_at.merged} AS changed
      FROM times WHERE id IN ${ids} GROUP BY id`,
  );
  const timesOf = new Map(times.map((row) => [row.id, row]));
  return ids.flatMap((id) => {
    const state = states.get(id);
    if (!state) return [];
    const { scanned = 0, first = 0, changed = 0 } = timesOf.get(id) ?? {};
    const { name, sector, posture, score, categories, providers, levels, versions, platforms } = state;
    const all = categories.map((category, i) => [
      ...[category, providers[i], levels[i], versions[i], platforms[i]],
    ]) as unknown as DomainRow['services'];
    return {
      ...{
        id,
        name,
        sector,
        posture,
        services: all.map(([category, provider, level]) => [category, provider, level] as const),
        builds: shownBy(all).map(shownBuild).sort(buildOrder),
        scannedAt: scanned,
        firstSeen: first * 1_000,
        changedAt: changed * 1_000,
      },
      // The exporter writes only states.
      state: state.state as DomainRow['state'],
      score: score === NO_SCORE ? null : score,
    };
  });
}

const shownBuild = ([, product, , version = null, platform = null]: IndexedService): ProductBuild => {
  return { product, version, platform };
};

/** Each build of these products, with its number of domains. */
export async function buildsIn(clickhouse: ClickHouse, products: readonly string[]): Promise<BuildCount[]> {
  if (products.length === 0) return [];
  const rows = await asked<{ value: string; domains: number; first: number[] }>(
    clickhouse,
    sql`SELECT value, toInt64(bitmapCardinality(ids)) AS domains, bitmapToArray(bitmapSubsetLimit(ids, toUInt32(0), toUInt32(${MAX_FIRST}))) AS first
      FROM (SELECT value, groupBitmapXorMergeState(ids) AS ids FROM sets
        WHERE kind = 'build' AND splitByChar('\\n', value)[1] IN ${products} GROUP BY value)
      WHERE domains > 0`,
  );
  return rows.map(({ value, ...counted }) => ({ ...buildOf(value), ...counted })).sort(buildOrder);
}

async function facetOf(clickhouse: ClickHouse, set: Sql, facet: Facet): Promise<FacetCounts> {
  const [kind, prefix] =
    facet === 'grade' ? ['score', ''] : PLAIN.includes(facet) ? [facet, ''] : ['placement', `${facet} `];
  const found = await sizesOf(clickhouse, kind, { within: set, prefix });
  const values = facet === 'grade' ? gradesOf(found) : found;
  return { facet, values: values.slice(0, MAX_FACET_VALUES) };
}

const PLAIN: readonly string[] = ['provider', 'role', 'tld', 'sector', 'state'];

interface Size {
  readonly value: string;
  readonly count: number;
}

/** The number of domains of each term of a kind in a set, most first, then by value; terms without domains are left out. */
export async function sizesOf(
  clickhouse: ClickHouse,
  kind: string,
  {
    within,
    prefix = '',
    values,
  }: { readonly within: Sql; readonly prefix?: string; readonly values?: readonly string[] },
): Promise<Size[]> {
  const conditions = [
    sql`kind = ${kind}`,
    ...(prefix === '' ? [] : [sql`startsWith(value, ${prefix})`]),
    ...(values ? [sql`value IN ${values}`] : []),
  ];
  return asked<Size>(
    clickhouse,
    sql`WITH ${within} AS matching
      SELECT substring(value, ${prefix.length + 1}) AS value, toInt64(bitmapAndCardinality(ids, matching)) AS count FROM (
        SELECT value, groupBitmapXorMergeState(ids) AS ids FROM sets WHERE ${joined(conditions, raw(' AND '))} GROUP BY value)
      WHERE count > 0 ORDER BY count DESC, value`,
  );
}

function gradesOf(scores: readonly Size[]): Size[] {
  const counts = new Map<string, number>();
  for (const { value, count } of scores) {
    if (Number(value) === NO_SCORE) continue;
    const grade = gradeOf(Number(value));
    counts.set(grade, (counts.get(grade) ?? 0) + count);
  }
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
}
