// Domains by name and by what they are and use: sets joined, then one page of the result in the order of names.
import { type Category, type ConfidenceLevel, type DomainState, POSTURE_FLAGS, type PostureFlag } from '@strata/detect';
import { categoryNumber, LEVELS, STATES, sectorNumber, stateNumber } from '../columns/terms.ts';
import type { DomainIndex } from '../index/domain-index.ts';
import { DomainSet } from '../sets/domain-set.ts';

/** All that are given must hold. */
export interface DomainFilter {
  /** Any part of the name, lower-case; those that begin with it come first. */
  readonly part?: string | undefined;
  /** Provider id. */
  readonly provider?: string | undefined;
  readonly category?: Category | undefined;
  /** Of a service that the provider and the category describe, or of any. */
  readonly confidence?: ConfidenceLevel | undefined;
  /** The same, of this confidence or a higher one; `confidence` goes before it. */
  readonly minConfidence?: ConfidenceLevel | undefined;
  /** Another provider that the domain uses besides, for whatever and with any confidence. */
  readonly with?: string | undefined;
  readonly sector?: string | undefined;
  /** `live`: active or parked. */
  readonly state?: DomainState | 'live' | undefined;
  /** All of these. */
  readonly flags?: readonly PostureFlag[] | undefined;
  /** None of these. */
  readonly without?: readonly PostureFlag[] | undefined;
  /** Security scores from 0 to 100, both ends included; a domain without a score has none of them. */
  readonly score?: { readonly from: number; readonly to: number } | undefined;
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
  const barred = filter.without ?? [];
  if (sets.length === 0 && barred.length === 0) {
    return { total: index.size, domains: Array.from(slice(index.names.order(), page)) };
  }
  // What is to be taken away needs something to be taken from: everything, where nothing else is asked.
  if (sets.length === 0) sets.push(union(STATES.map((_, state) => index.sets.state(state))));
  sets.sort((a, b) => a.size - b.size);
  const [first = new DomainSet(), ...rest] = sets;
  const within = rest.reduce((set, other) => set.and(other), first);
  const found = barred.reduce((set, flag) => set.andNot(index.sets.flag(POSTURE_FLAGS.indexOf(flag))), within);
  return { total: found.size, domains: inNameOrder(index, found, page, part) };
}

/** The sets that a domain must be in, but for its name and what it must not have. */
export function filterSets(index: DomainIndex, filter: DomainFilter): DomainSet[] {
  const { provider, category, sector, state, flags = [], score, with: other } = filter;
  const levels = levelsOf(filter);
  const sets: DomainSet[] = [];
  if (provider !== undefined) sets.push(providerSet(index, provider, filter));
  else if (category !== undefined) sets.push(categorySet(index, category, levels));
  else if (levels !== undefined) sets.push(union(levels.map((level) => index.sets.level(level))));
  if (other !== undefined) sets.push(providerSet(index, other, {}));
  if (sector !== undefined) sets.push(index.sets.sector(sectorNumber(sector)));
  if (state !== undefined) {
    sets.push(union((state === 'live' ? LIVE : [state]).map((each) => index.sets.state(stateNumber(each)))));
  }
  for (const flag of flags) sets.push(index.sets.flag(POSTURE_FLAGS.indexOf(flag)));
  if (score !== undefined) {
    const { from, to } = score;
    const scores = Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => index.sets.score(from + i));
    sets.push(disjointUnion(scores, index.names.limit));
  }
  return sets;
}

const LIVE: readonly DomainState[] = ['active', 'parked'];

/** Numbers of the levels that are asked for; undefined where any will do. */
function levelsOf({ confidence, minConfidence }: DomainFilter): readonly number[] | undefined {
  if (confidence !== undefined) return [LEVELS.indexOf(confidence)];
  // The highest stands first.
  return minConfidence && LEVELS.slice(0, LEVELS.indexOf(minConfidence) + 1).map((_, level) => level);
}

/** Domains that use a provider, in one category or any, with one confidence, some or any. */
function providerSet(index: DomainIndex, provider: string, filter: DomainFilter): DomainSet {
  const { category } = filter;
  const number = index.vocabulary.providers.find(provider);
  if (number === undefined) return new DomainSet();
  const levels = levelsOf(filter);
  if (category === undefined && levels === undefined) return index.sets.provider(number);
  const placements = index.vocabulary
    .placementsOf(number)
    .filter((placement) => category === undefined || placement.category === categoryNumber(category));
  return union(
    placements.flatMap((placement) =>
      (levels ?? [undefined]).map((level) => index.sets.placement(placement.number, level)),
    ),
  );
}

function categorySet(index: DomainIndex, category: Category, levels: readonly number[] | undefined): DomainSet {
  const number = categoryNumber(category);
  if (levels === undefined) return index.sets.category(number);
  return union(levels.map((level) => index.sets.categoryLevel(number, level)));
}

/** The smallest first, so that the large ones are copied once. */
function union(sets: readonly DomainSet[]): DomainSet {
  // One set is read and never written to.
  if (sets.length === 1) return sets[0] as DomainSet;
  return sets.toSorted((a, b) => a.size - b.size).reduce((all, set) => all.or(set), new DomainSet());
}

/** Of many sets that have nothing in common and only numbers below the limit: each member is written once, and no set is copied. */
function disjointUnion(sets: readonly DomainSet[], limit: number): DomainSet {
  const size = sets.reduce((sum, set) => sum + set.size, 0);
  if (DomainSet.isDense(size, limit)) {
    const bits = new Uint32Array((limit >>> 5) + 1);
    for (const set of sets) {
      set.each((member) => {
        bits[member >>> 5] = (bits[member >>> 5] as number) | (1 << (member & 31));
      });
    }
    return DomainSet.ofBits(bits, size);
  }
  const members = new Uint32Array(size);
  let at = 0;
  for (const set of sets) {
    set.each((member) => {
      members[at++] = member;
    });
  }
  return DomainSet.ofSorted(members.sort());
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
  const live = union(LIVE.map((state) => index.sets.state(stateNumber(state))));
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
