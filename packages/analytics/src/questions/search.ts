// Searches domains by name, properties and providers: sets are intersected, then one page of the result is sorted by
// name.
import {
  type Category,
  type ConfidenceLevel,
  type DomainState,
  POSTURE_FLAGS,
  type PostureFlag,
  type Role,
} from '@strata/detect';
import type { SortedNames } from '../columns/sorted-names.ts';
import { categoryNumber, LEVELS, LIVE, roleNumber, sectorNumber, stateNumber } from '../columns/terms.ts';
import type { DomainIndex } from '../index/domain-index.ts';
import { allDomains, evaluateAmong, evaluateQuery, providerSet } from '../query/evaluate-query.ts';
import { domainsShowing, type ProductBuild } from '../query/product-builds.ts';
import type { Query } from '../query/query.ts';
import { DomainSet } from '../sets/domain-set.ts';
import { difference, intersection, union } from '../sets/set-operations.ts';

/** All given conditions must hold. */
export interface DomainFilter {
  /** Any parts of the name, lower-case, with blanks between them; names that begin with the first come first. */
  readonly part?: string | undefined;
  /** Provider id. */
  readonly provider?: string | undefined;
  readonly category?: Category | undefined;
  /** Of a service that matches the provider, or of any service. */
  readonly role?: Role | undefined;
  /** Of a service that matches the provider, the category and the role, or of any service. */
  readonly confidence?: ConfidenceLevel | undefined;
  /** This confidence or a higher one; ignored if `confidence` is given. */
  readonly minConfidence?: ConfidenceLevel | undefined;
  /** Another provider that the domain also uses, in any category and with any confidence. */
  readonly with?: string | undefined;
  readonly sector?: string | undefined;
  /** `live`: active or parked. */
  readonly state?: DomainState | 'live' | undefined;
  /** All of these. */
  readonly flags?: readonly PostureFlag[] | undefined;
  /** None of these. */
  readonly without?: readonly PostureFlag[] | undefined;
  /** Security scores from 0 to 100, both ends included; a domain without a score does not match. */
  readonly score?: { readonly from: number; readonly to: number } | undefined;
  readonly query?: Query | undefined;
  /** Any of these. */
  readonly builds?: readonly ProductBuild[] | undefined;
  /** Only some of these: by the store's numbers, or by name. */
  readonly among?: { readonly ids: readonly number[] } | { readonly names: readonly string[] } | undefined;
}

export interface Page<Key = string> {
  readonly limit: number;
  readonly offset: number;
  /** Only entries after this one in the order of the list, whether it still exists or not; of domains the name. */
  readonly after?: Key;
}

interface FoundDomains {
  /** Number of all matches. */
  readonly total: number;
  /** Domain numbers of the page. */
  readonly domains: readonly number[];
}

/** The order is total: exact name, names that begin with the part, then the rest; alphabetical within each group. */
export function searchDomains(index: DomainIndex, filter: DomainFilter, page: Page): FoundDomains {
  const found = matchingDomains(index, filter);
  return { total: found?.size ?? index.size, domains: namePage(index, found, { ...page, part: filter.part }) };
}

/** One page of a set, by default of all domains, in the order of a search. */
export function namePage(
  index: DomainIndex,
  set: DomainSet | undefined,
  { part, ...page }: Page & Pick<DomainFilter, 'part'>,
): readonly number[] {
  const [first] = part?.split(' ') ?? [];
  if (set) return inNameOrder(index, set, page, first);
  const { limit, offset, after } = page;
  const start = after === undefined ? offset : offset + index.names.sorted.countThrough(after);
  return Array.from(index.names.sorted.numbers().subarray(start, start + limit));
}

/** The domains for which all conditions hold; undefined without a condition. */
export function matchingDomains(index: DomainIndex, filter: DomainFilter): DomainSet | undefined {
  const { part, query, among, builds, without: barred = [] } = filter;
  const sets = filterSets(index, filter);
  if (among) sets.push(knownAmong(index, among));
  if (builds) sets.push(domainsShowing(index, builds));
  if (part) sets.push(index.grams.search(part, index.names, index.tlds));
  if (query) sets.push(among ? evaluateAmong(index, query, sets.reduce(intersection)) : evaluateQuery(index, query));
  if (sets.length === 0 && barred.length === 0) return undefined;
  // A condition of absence needs a base set: all domains, if there is no other condition.
  if (sets.length === 0) sets.push(allDomains(index));
  sets.sort((a, b) => a.size - b.size);
  const [rarest = new DomainSet(), ...rest] = sets;
  const within = rest.reduce(intersection, rarest);
  return barred.reduce((set, flag) => difference(set, index.sets.flag(POSTURE_FLAGS.indexOf(flag))), within);
}

function knownAmong({ names }: DomainIndex, among: NonNullable<DomainFilter['among']>): DomainSet {
  const numbers = 'ids' in among ? among.ids : among.names.map((name) => names.sorted.find(name) ?? -1);
  return DomainSet.of([...new Set(numbers)].filter((number) => names.has(number)).sort((a, b) => a - b));
}

/** The sets of all conditions except name, absence, query and domains. */
function filterSets(index: DomainIndex, filter: DomainFilter): DomainSet[] {
  const { provider, category, role, sector, state, flags = [], score, with: other } = filter;
  const levels = levelsOf(filter);
  const sets: DomainSet[] = [];
  if (provider !== undefined) sets.push(providerSet(index, provider, { category, role, levels }));
  else if (role !== undefined) sets.push(roleSet(index, role, levels));
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
    sets.push(union(scores));
  }
  return sets;
}

/** Numbers of the requested levels; undefined if any level matches. */
function levelsOf({ confidence, minConfidence }: DomainFilter): readonly number[] | undefined {
  if (confidence !== undefined) return [LEVELS.indexOf(confidence)];
  // The highest level comes first.
  return minConfidence && LEVELS.slice(0, LEVELS.indexOf(minConfidence) + 1).map((_, level) => level);
}

function categorySet(index: DomainIndex, category: Category, levels: readonly number[] | undefined): DomainSet {
  const number = categoryNumber(category);
  if (levels === undefined) return index.sets.category(number);
  return union(levels.map((level) => index.sets.categoryLevel(number, level)));
}

function roleSet({ sets, vocabulary }: DomainIndex, role: Role, levels: readonly number[] | undefined): DomainSet {
  const number = roleNumber(role);
  if (levels === undefined) return sets.role(number);
  const placements = vocabulary.placements.filter((placement) => placement.role === number);
  return union(placements.flatMap((placement) => levels.map((level) => sets.placement(placement.number, level))));
}

/** A test of membership costs as much as the visit of so many of its members. */
const TEST_COST = 8;
/** The search for the rank of a domain takes 1/2^17 of a walk over all names on average: for so many, a walk takes less. */
const LONG_PAGE = 2 ** 17;

/** One page of a set in the order of names, those that begin with `prefix` first. */
export function inNameOrder(index: DomainIndex, set: DomainSet, page: Page, prefix?: string): readonly number[] {
  const { sorted } = index.names;
  const { length } = sorted.numbers();
  const begun = prefix ? sorted.prefixRange(prefix) : ([0, 0] as const);
  // Keys of names without the prefix follow those of all names.
  const { limit, offset, after } = page;
  const through = after === undefined ? 0 : sorted.countThrough(after);
  const firstKey = after === undefined || (prefix && after.startsWith(prefix)) ? through : through + length;
  const parts = { ...{ limit, offset, firstKey }, begun };
  // If the members are spread evenly, so many tests fill the page.
  const tests = ((offset + limit) * length) / set.size;
  const most = set.size / TEST_COST;
  if (Math.min(offset + limit, set.size) > LONG_PAGE) return walk(sorted, set, parts, length) ?? [];
  return (tests < most ? walk(sorted, set, parts, most) : undefined) ?? select(sorted, set, parts);
}

interface KeyedPage {
  readonly limit: number;
  readonly offset: number;
  readonly firstKey: number;
  /** The range of the names with the prefix. */
  readonly begun: readonly [from: number, to: number];
}

/** Tests the domains in their order, at most so many; undefined if the page needs more. */
function walk(
  sorted: SortedNames,
  set: DomainSet,
  { limit, offset, firstKey, begun: [from, to] }: KeyedPage,
  most: number,
): number[] | undefined {
  const order = sorted.numbers();
  const found: number[] = [];
  let skip = offset;
  let left = most;
  for (const [start, end, firstOfRange] of [
    [from, to, firstKey],
    [0, from, firstKey - order.length],
    [to, order.length, firstKey - order.length],
  ] as const) {
    for (let i = Math.max(start, firstOfRange); i < end && found.length < limit; i += 1) {
      left -= 1;
      if (left < 0) return undefined;
      const domain = order[i] as number;
      if (!set.has(domain)) continue;
      if (skip > 0) skip -= 1;
      else found.push(domain);
    }
  }
  return found;
}

/** Counts the members by the first bits of their keys; only those that may be in the page are sorted. */
function select(
  sorted: SortedNames,
  set: DomainSet,
  { limit, offset, firstKey, begun: [from, to] }: KeyedPage,
): number[] {
  const order = sorted.numbers();
  const { high, shift } = sorted.ranks();
  const buckets = (order.length >>> shift) + 1;
  const keyOf = (domain: number) => {
    const rank = sorted.rankOf(domain);
    return rank >= from && rank < to ? rank : rank + order.length;
  };
  const [first, last] = [from >>> shift, to >>> shift];
  const firstBucket = firstKey < order.length ? firstKey >>> shift : ((firstKey - order.length) >>> shift) + buckets;
  /** -1 for a member before the first key. */
  const bucketOf = (domain: number) => {
    const bits = high[domain] as number;
    let bucket = bits > first && bits < last ? bits : bits + buckets;
    if ((bits === first || bits === last) && keyOf(domain) < order.length) bucket = bits;
    return bucket < firstBucket || (bucket === firstBucket && keyOf(domain) < firstKey) ? -1 : bucket;
  };
  const counts = new Uint32Array(buckets * 2);
  set.each((domain) => {
    const bucket = bucketOf(domain);
    if (bucket >= 0) counts[bucket] = (counts[bucket] as number) + 1;
  });
  let [begin, before] = [0, 0];
  for (; begin < counts.length && before + (counts[begin] as number) <= offset; begin += 1)
    before += counts[begin] as number;
  let [end, through] = [begin, before];
  for (; end < counts.length && through < offset + limit; end += 1) through += counts[end] as number;
  const keys = new Uint32Array(through - before);
  let at = 0;
  set.each((domain) => {
    const bucket = bucketOf(domain);
    if (bucket >= begin && bucket < end) keys[at++] = keyOf(domain);
  });
  return Array.from(
    keys.sort().subarray(offset - before, offset - before + limit),
    (key) => order[key % order.length] as number,
  );
}
