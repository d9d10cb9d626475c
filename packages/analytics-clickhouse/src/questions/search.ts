// A page of domains: their number, the domains in an order, and counts by value.
import {
  type DomainRow,
  type Facet,
  type FacetCounts,
  MAX_FACET_VALUES,
  type Search,
  type SearchAnswer,
} from '@strata/analytics';
import { gradeOf } from '@strata/detect';
import type { ClickHouse } from '../connection/clickhouse.ts';
import { NO_SCORE, partsOfStates } from '../export/domain-row.ts';
import { asked } from './ask.ts';
import { ALL, filteredSet, type Size, sizesOf, TIME_COLUMNS } from './domain-sets.ts';
import { pageOf } from './pages.ts';
import { type Sql, sql } from './sql.ts';

export async function searched(clickhouse: ClickHouse, search: Search): Promise<SearchAnswer> {
  const { filter, limit, facets = [] } = search;
  const set = filteredSet(filter) ?? ALL;
  const [numbers] = await asked<{ size: number; known: number }>(
    clickhouse,
    sql`SELECT bitmapCardinality(${set}) AS size, (SELECT sum(n) FROM fact_counts WHERE kind = 'domain') AS known`,
  );
  const { size = 0, known: all = 0 } = numbers ?? {};
  const ids = limit === 0 || size === 0 ? [] : await pageOf(clickhouse, { set, size, all }, search);
  const domains = await rowsOf(clickhouse, ids);
  const counts: FacetCounts[] = [];
  for (const facet of facets) counts.push(await facetOf(clickhouse, set, facet));
  return { total: size, domains, facets: counts };
}

const SHOWN = ['name', 'state', 'sector', 'posture', 'score', 'categories', 'providers', 'levels'] as const;

interface TimesRow {
  readonly id: number;
  readonly scanned: number;
  readonly first: number;
  readonly changed: number;
}

/** What is known about these domains, in their order; a domain that was removed in the meantime is left out. */
export async function rowsOf(clickhouse: ClickHouse, ids: readonly number[]): Promise<DomainRow[]> {
  if (ids.length === 0) return [];
  const states = await partsOfStates(clickhouse, ids, SHOWN);
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
    const { name, sector, posture, score, categories, providers, levels } = state;
    const services = categories.map((category, i) => [
      category,
      providers[i],
      levels[i],
    ]) as unknown as DomainRow['services'];
    return {
      ...{
        id,
        name,
        sector,
        posture,
        services,
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
