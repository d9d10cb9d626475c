// Domains by name and by what they are and use: sets joined, then one page of the result in the order of names.
import { type Category, type ConfidenceLevel, type DomainState, POSTURE_FLAGS, type PostureFlag } from '@strata/detect';
import type { DomainIndex } from './domain-index.ts';
import { DomainSet } from './domain-set.ts';
import { categoryNumber, LEVELS, sectorNumber, stateNumber } from './terms.ts';

/** All that are given must hold. */
export interface DomainFilter {
  /** Any part of the name, lower-case; those that begin with it come first. */
  readonly part?: string | undefined;
  /** Provider id. */
  readonly provider?: string | undefined;
  readonly category?: Category | undefined;
  /** Of a service that the provider and the category describe, or of any. */
  readonly confidence?: ConfidenceLevel | undefined;
  readonly sector?: string | undefined;
  readonly state?: DomainState | undefined;
  readonly flag?: PostureFlag | undefined;
}

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

export interface FoundDomains {
  /** All that match. */
  readonly total: number;
  /** Domain numbers of the page. */
  readonly domains: readonly number[];
}

/** The order is total: exact name, names that begin with the part, all others; alphabetical within each. */
export function searchDomains(index: DomainIndex, filter: DomainFilter, page: Page): FoundDomains {
  const { part } = filter;
  const sets = filterSets(index, filter);
  if (part) sets.push(index.grams.search(part, index.names));
  if (sets.length === 0) return { total: index.size, domains: Array.from(slice(index.names.order(), page)) };
  sets.sort((a, b) => a.size - b.size);
  const [first = new DomainSet(), ...rest] = sets;
  const found = rest.reduce((set, other) => set.and(other), first);
  return { total: found.size, domains: inNameOrder(index, found, page, part) };
}

/** The set of a filter without its part of the name. */
export function filterSets(index: DomainIndex, filter: DomainFilter): DomainSet[] {
  const { provider, category, confidence, sector, state, flag } = filter;
  const sets: DomainSet[] = [];
  if (provider !== undefined) sets.push(providerSet(index, provider, filter));
  else if (category !== undefined) sets.push(categorySet(index, category, confidence));
  else if (confidence !== undefined) sets.push(index.sets.level(LEVELS.indexOf(confidence)));
  if (sector !== undefined) sets.push(index.sets.sector(sectorNumber(sector)));
  if (state !== undefined) sets.push(index.sets.state(stateNumber(state)));
  if (flag !== undefined) sets.push(index.sets.flag(POSTURE_FLAGS.indexOf(flag)));
  return sets;
}

/** Domains that use a provider, in one category or any, with one confidence or any. */
function providerSet(index: DomainIndex, provider: string, { category, confidence }: DomainFilter): DomainSet {
  const number = index.vocabulary.providers.find(provider);
  if (number === undefined) return new DomainSet();
  if (category === undefined && confidence === undefined) return index.sets.provider(number);
  const level = confidence && LEVELS.indexOf(confidence);
  const placements = index.vocabulary
    .placementsOf(number)
    .filter((placement) => category === undefined || placement.category === categoryNumber(category));
  return union(placements.map((placement) => index.sets.placement(placement.number, level)));
}

function categorySet(index: DomainIndex, category: Category, confidence: ConfidenceLevel | undefined): DomainSet {
  const number = categoryNumber(category);
  if (confidence === undefined) return index.sets.category(number);
  return index.sets.categoryLevel(number, LEVELS.indexOf(confidence));
}

/** The smallest first, so that the large ones are copied once. */
function union(sets: readonly DomainSet[]): DomainSet {
  return sets.toSorted((a, b) => a.size - b.size).reduce((all, set) => all.or(set), new DomainSet());
}

/** Sorting this share of all domains or fewer is cheaper than walking all in order. */
const WALK_FROM = 1 / 24;

/** One page of a set in the order of names, those that begin with `prefix` first. */
export function inNameOrder(index: DomainIndex, set: DomainSet, page: Page, prefix?: string): number[] {
  const order = index.names.order();
  const [from, to] = prefix ? index.names.prefixRange(prefix) : [0, 0];
  if (set.size > order.length * WALK_FROM) return walk(order, set, page, [from, to]);
  const ranks = index.names.ranks();
  const keys = new Uint32Array(set.size);
  let count = 0;
  set.each((domain) => {
    const rank = ranks[domain] as number;
    keys[count++] = rank >= from && rank < to ? rank : rank + order.length;
  });
  keys.sort();
  return Array.from(slice(keys, page), (key) => order[key >= order.length ? key - order.length : key] as number);
}

function walk(
  order: Uint32Array,
  set: DomainSet,
  { limit, offset }: Page,
  [from, to]: readonly [number, number],
): number[] {
  const found: number[] = [];
  let skip = offset;
  for (const [start, end] of [
    [from, to],
    [0, from],
    [to, order.length],
  ] as const) {
    for (let i = start; i < end && found.length < limit; i += 1) {
      const domain = order[i] as number;
      if (!set.has(domain)) continue;
      if (skip > 0) skip -= 1;
      else found.push(domain);
    }
  }
  return found;
}

function slice(list: Uint32Array, { limit, offset }: Page): Uint32Array {
  return list.subarray(Math.min(offset, list.length), Math.min(offset + limit, list.length));
}

/** Domains that exist, worst score first, then by name; those without a score are left out. */
export function worstScores(
  index: DomainIndex,
  filter: { readonly sector?: string | undefined; readonly scoreAtMost: number },
  limit: number,
): FoundDomains {
  const live = index.sets.state(stateNumber('active')).or(index.sets.state(stateNumber('parked')));
  const within = filterSets(index, filter.sector === undefined ? {} : { sector: filter.sector }).reduce(
    (set, other) => set.and(other),
    live,
  );
  let total = 0;
  const domains: number[] = [];
  for (let score = 0; score <= Math.min(filter.scoreAtMost, 100); score += 1) {
    const ofScore = index.sets.score(score);
    total += ofScore.andSize(within);
    const page = { limit: limit - domains.length, offset: 0 };
    if (page.limit > 0) domains.push(...inNameOrder(index, ofScore.and(within), page));
  }
  return { total, domains };
}
