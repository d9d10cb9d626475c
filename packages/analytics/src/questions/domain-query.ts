// The results of a query: one page in any order, and counts of the results by provider, role, top-level domain, sector or grade.
import { CATEGORIES, type Category, gradeOf, ROLE_LIST, SECTORS } from '@strata/detect';
import type { TimeKind } from '../columns/column-page.ts';
import { NO_SCORE } from '../columns/domain-columns.ts';
import { rowOf } from '../columns/pages.ts';
import { MAX_SCORE, STATES } from '../columns/terms.ts';
import { compareText } from '../compare-text.ts';
import type { DomainIndex } from '../index/domain-index.ts';
import type { DomainSet } from '../sets/domain-set.ts';
import { difference, intersection, intersectionSize } from '../sets/set-operations.ts';
import { inNameOrder } from './search.ts';

/** Domains without a score, and those that have not changed, come last in both orders. */
export interface DomainOrder {
  readonly by: 'score' | TimeKind;
  readonly isDescending: boolean;
}

/** The position of a domain in an order; equal values are in the order of the names. */
export type OrderKey = readonly [value: number | null, name: string];

interface OrderedPage {
  readonly limit: number;
  readonly after?: OrderKey;
}

/** The first domains of the set in this order, or the first after a key. */
export function inOrder(index: DomainIndex, set: DomainSet, order: DomainOrder, page: OrderedPage): number[] {
  const { by, isDescending } = order;
  if (by !== 'score') {
    const first = index.firstInTime.of(by, { isDescending, limit: index.names.limit });
    const found = set.size > first.before.size ? firstInTime(index, { set, first, order, page }) : undefined;
    return found ?? sorted(index, [set], order, page);
  }
  const start = page.after && sortable(page.after[0], order);
  const scores = scoresInOrder(order).filter(
    (score) => start === undefined || sortable(score === NO_SCORE ? null : score, order) >= start,
  );
  const sets = scores.values().map((score) => intersection(set, index.sets.score(score)));
  return sorted(index, sets, order, page);
}

interface TimedPage {
  readonly set: DomainSet;
  readonly first: ReturnType<DomainIndex['firstInTime']['of']>;
  readonly order: DomainOrder;
  readonly page: OrderedPage;
}

/** A page of the domains that are first in time, and then of those with the next time by name; undefined if that is too few. */
function firstInTime(index: DomainIndex, { set, first, order, page }: TimedPage): number[] | undefined {
  const { before, tied, isComplete } = first;
  const found = sorted(index, [intersection(set, before)], order, page);
  const { limit, after } = page;
  if (found.length === limit) return found;
  if (!tied && !isComplete) return undefined;
  const [start, next] = [after && sortable(after[0], order), sortable(tied?.at ?? null, order)];
  if (start === undefined || start <= next) {
    const remaining = tied ? intersection(set, tied.set) : difference(set, before);
    const rest = { limit: limit - found.length, offset: 0, ...(after && start === next && { after: after[1] }) };
    for (const domain of inNameOrder(index, remaining, rest)) found.push(domain);
  }
  return found.length === limit || isComplete ? found : undefined;
}

/** The first of all domains of the sets, which are visited until a page is full: each follows those before it. */
function sorted(
  index: DomainIndex,
  sets: Iterable<DomainSet>,
  order: DomainOrder,
  { limit, after }: OrderedPage,
): number[] {
  const { names } = index;
  const { high } = names.sorted.ranks();
  const start = after && { value: sortable(after[0], order), rank: names.sorted.countThrough(after[1]) };
  let kept: { readonly domain: number; readonly value: number }[] = [];
  /** The last of a full page; the first bits of its rank decide most ties. */
  let last = { value: Number.POSITIVE_INFINITY, high: Number.POSITIVE_INFINITY };
  const cut = () => {
    kept = kept.sort((a, b) => compareNumbers(a.value, b.value) || names.compare(a.domain, b.domain)).slice(0, limit);
    const end = kept.length === limit ? kept.at(-1) : undefined;
    if (end) last = { value: end.value, high: high[end.domain] as number };
  };
  const visit = (domain: number) => {
    const value = sortable(orderValue(index, domain, order.by), order);
    if (value > last.value || (start && value < start.value)) return;
    if (value === last.value && (high[domain] as number) > last.high) return;
    if (start && value === start.value && names.sorted.rankOf(domain) < start.rank) return;
    kept.push({ domain, value });
    // Sorting when twice as many are kept costs less than keeping them in order.
    if (kept.length >= limit * 2) cut();
  };
  for (const set of sets) {
    set.each(visit);
    cut();
    if (kept.length === limit) break;
  }
  return kept.map(({ domain }) => domain);
}

/** Without a value, last in both orders. */
const sortable = (value: number | null, { isDescending }: DomainOrder): number =>
  value === null ? Number.POSITIVE_INFINITY : isDescending ? -value : value;

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
