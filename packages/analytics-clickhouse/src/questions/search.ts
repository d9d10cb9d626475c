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
import { NO_SCORE, partsOfStates } from '../export/domain-row.ts';
import { asked } from './ask.ts';
import { ALL, buildOf, filteredSet, type Size, sizesOf, TIME_COLUMNS } from './domain-sets.ts';
import { countedSet, pageOf } from './pages.ts';
import { type Sql, sql } from './sql.ts';

export async function searched(clickhouse: ClickHouse, search: Search): Promise<SearchAnswer> {
  const { filter, limit, facets = [] } = search;
  const set = filteredSet(filter) ?? ALL;
  const counted = await countedSet(clickhouse, set, search);
  const { size, page } = counted;
  const ids = page ?? (limit === 0 || size === 0 ? [] : await pageOf(clickhouse, counted, search));
  const domains = await rowsOf(clickhouse, ids, { hasBuilds: filter.builds !== undefined });
  const counts: FacetCounts[] = [];
  for (const facet of facets) counts.push(await facetOf(clickhouse, set, facet));
  return { total: size, domains, facets: counts };
}

const SHOWN = ['name', 'state', 'sector', 'posture', 'score', 'categories', 'providers', 'levels'] as const;
const BUILDS = ['versions', 'platforms'] as const;

interface TimesRow {
  readonly id: number;
  readonly scanned: number;
  readonly first: number;
  readonly changed: number;
}

/** What is known about these domains, in their order; a domain that was removed in the meantime is left out. */
export async function rowsOf(
  clickhouse: ClickHouse,
  ids: readonly number[],
  { hasBuilds }: { readonly hasBuilds: boolean },
): Promise<DomainRow[]> {
  if (ids.length === 0) return [];
  const states = await partsOfStates(clickhouse, ids, hasBuilds ? [...SHOWN, ...BUILDS] : SHOWN);
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
      ...[category, providers[i], levels[i], versions?.[i], platforms?.[i]],
    ]) as unknown as DomainRow['services'];
    return {
      ...{
        id,
        name,
        sector,
        posture,
        services: all.map(([category, provider, level]) => [category, provider, level] as const),
        ...(hasBuilds && { builds: shownBy(all).map(shownBuild).sort(buildOrder) }),
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
