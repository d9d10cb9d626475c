// The results of a query: one page in any order, and counts of the results by provider, role, top-level domain, sector or grade.
import { CATEGORIES, type Category, gradeOf, ROLE_LIST, SECTORS } from '@strata/detect';
import type { TimeKind } from '../columns/column-page.ts';
import { NO_SCORE } from '../columns/domain-columns.ts';
import { rowOf } from '../columns/pages.ts';
import { MAX_SCORE, STATES } from '../columns/terms.ts';
import { compareText } from '../compare-text.ts';
import type { DomainIndex } from '../index/domain-index.ts';
import type { DomainSet } from '../sets/domain-set.ts';
import { intersection, intersectionSize } from '../sets/set-operations.ts';

/** Domains without a score, and those that have not changed, come last in both orders. */
export interface DomainOrder {
  readonly by: 'score' | TimeKind;
  readonly isDescending: boolean;
}

/** The position of a domain in an order; equal values are in the order of the names. */
export type OrderKey = readonly [value: number | null, name: string];

/** The first domains of the set in this order, or the first after a key. */
export function inOrder(
  index: DomainIndex,
  set: DomainSet,
  order: DomainOrder,
  { limit, after }: { readonly limit: number; readonly after?: OrderKey },
): number[] {
  const { sorted } = index.names;
  const { high, shift } = sorted.ranks();
  const sign = order.isDescending ? -1 : 1;
  const sortable = (value: number | null) => (value === null ? Number.POSITIVE_INFINITY : sign * value);
  const { by } = order;
  const start = after && { value: sortable(after[0]), rank: sorted.countThrough(after[1]) };
  let kept: { readonly domain: number; readonly value: number; readonly rank: number }[] = [];
  /** The last of a full page. */
  let last = { value: Number.POSITIVE_INFINITY, rank: Number.POSITIVE_INFINITY };
  const cut = () => {
    kept = kept.sort((a, b) => compareNumbers(a.value, b.value) || a.rank - b.rank).slice(0, limit);
    if (kept.length === limit) last = kept.at(-1) ?? last;
  };
  const visit = (domain: number) => {
    const value = sortable(orderValue(index, domain, by));
    if (value > last.value || (start && value < start.value)) return;
    // The first bits of the rank decide most ties.
    if (value === last.value && (high[domain] as number) > last.rank / 2 ** shift) return;
    const rank = sorted.rankOf(domain);
    if (start && value === start.value && rank < start.rank) return;
    kept.push({ domain, value, rank });
    // Sorting when twice as many are kept costs less than keeping them in order.
    if (kept.length >= limit * 2) cut();
  };
  if (by !== 'score') {
    const first = index.firstInTime.of(by, { isDescending: order.isDescending, limit: index.names.limit });
    if (set.size > first.size) intersection(set, first).each(visit);
    cut();
    if (kept.length < limit) {
      kept = [];
      set.each(visit);
      cut();
    }
  } else {
    // The first scores fill a page.
    for (const score of scoresInOrder(order)) {
      if (start && sortable(score === NO_SCORE ? null : score) < start.value) continue;
      intersection(set, index.sets.score(score)).each(visit);
      cut();
      if (kept.length === limit) break;
    }
  }
  return kept.map(({ domain }) => domain);
}

/** What a domain is ordered by; null: it has none. */
export function orderValue({ columns }: DomainIndex, domain: number, by: DomainOrder['by']): number | null {
  if (by === 'score') return columns.facts(domain).score;
  return columns.page(domain).time(rowOf(domain), by) || null;
}

function scoresInOrder({ isDescending }: DomainOrder): number[] {
  const scores = [...Array(MAX_SCORE + 1).keys()];
  return [...(isDescending ? scores.reverse() : scores), NO_SCORE];
}

/** Infinities are equal, and their difference is not a number. */
const compareNumbers = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1);

export const FACETS = ['provider', ...CATEGORIES, 'role', 'tld', 'sector', 'state', 'grade'] as const;
export type Facet = (typeof FACETS)[number];

/** Providers, by id, or other values with the number of domains of the set, most first, then by value. */
export function facetOf(index: DomainIndex, set: DomainSet, facet: Facet, limit: number) {
  return setsOf(index, facet)
    .map(([value, sets]) => ({ value, count: sets.reduce((sum, each) => sum + intersectionSize(set, each), 0) }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count || compareText(a.value, b.value))
    .slice(0, limit);
}

/** Each value with sets that have no domain in common. */
function setsOf({ sets, tlds, vocabulary }: DomainIndex, facet: Facet): (readonly [string, readonly DomainSet[]])[] {
  switch (facet) {
    case 'tld':
      return Array.from(tlds.words(), (tld) => [tld, [tlds.domains(tld)]] as const);
    case 'role':
      return ROLE_LIST.map((role, number) => [role, [sets.role(number)]]);
    case 'sector':
      return SECTORS.map((sector, number) => [sector, [sets.sector(number)]]);
    case 'state':
      return STATES.map((state, number) => [state, [sets.state(number)]]);
    case 'grade': {
      const scores = Array.from({ length: MAX_SCORE + 1 }, (_, score) => score);
      const byGrade = Map.groupBy(scores, (score) => gradeOf(score));
      return [...byGrade].map(([grade, own]) => [grade, own.map((score) => sets.score(score))]);
    }
    case 'provider':
      return vocabulary.providers.words().map((id, number) => [id, [sets.provider(number)]]);
    default: {
      const category = CATEGORIES.indexOf(facet satisfies Category);
      return vocabulary.placements
        .filter((placement) => placement.category === category)
        .map(({ provider, number }) => [vocabulary.providers.word(provider), [sets.placement(number)]]);
    }
  }
}
