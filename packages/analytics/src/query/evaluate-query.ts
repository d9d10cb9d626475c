// Evaluates a query on the sets of the index: first the terms that have one, together, and then the other conditions within
// the domains found.
import { type Category, type Role, SECTORS } from '@strata/detect';
import { bytesOf } from '../columns/byte-text.ts';
import { NO_SCORE } from '../columns/domain-columns.ts';
import type { NameTable } from '../columns/name-table.ts';
import { rowOf } from '../columns/pages.ts';
import { categoryNumber, MAX_SCORE, roleNumber, STATES } from '../columns/terms.ts';
import type { DomainIndex } from '../index/domain-index.ts';
import { DomainSet } from '../sets/domain-set.ts';
import { difference, filter, intersection, union } from '../sets/set-operations.ts';
import type { Condition, IndexedTerm, Query } from './query.ts';
import { versionSets } from './query-versions.ts';

export const allDomains = ({ sets }: DomainIndex): DomainSet => union(STATES.map((_, state) => sets.state(state)));

/** Within this many domains, conditions are evaluated for them only: hundreds of queries can be for a few domains. */
const FEW = 1_000;

/** The domains that match; `within` is a set of existing domains, by default of all. */
export function evaluateQuery(index: DomainIndex, query: Query, within?: DomainSet): DomainSet {
  const few = within && within.size <= FEW ? within : undefined;
  const leaf = leafOf(index, query, few);
  if (leaf) return filtered(index, [leaf], within);
  switch (query.kind) {
    case 'and': {
      const leaves = query.of.map((each) => leafOf(index, each, few));
      const found = filtered(
        index,
        leaves.filter((each) => each !== undefined),
        within,
      );
      return query.of
        .filter((_, i) => leaves[i] === undefined)
        .toSorted((a, b) => costOf(a) - costOf(b))
        .reduce((some, each) => evaluateQuery(index, each, some), found);
    }
    case 'or':
      return union(query.of.map((each) => evaluateQuery(index, each, within)));
    case 'not': {
      const all = within ?? allDomains(index);
      return difference(all, evaluateQuery(index, query.of, all));
    }
    case 'time':
      return timedIn(within ?? allDomains(index), index, query);
    case 'name':
      return few ? namedIn(few, index, query) : intersection(within ?? allDomains(index), namedSet(index, query));
    default:
      throw new Error(`${query.kind} is a leaf`);
  }
}

/** The domains of a set that match. Each few are evaluated alone, so that the work grows with the set, not with all domains. */
export function evaluateAmong(index: DomainIndex, query: Query, among: DomainSet): DomainSet {
  const members = among.toArray();
  const found: DomainSet[] = [];
  for (let from = 0; from < members.length; from += FEW)
    found.push(evaluateQuery(index, query, DomainSet.ofSorted(members.slice(from, from + FEW))));
  return union(found);
}

/** The domains in a set, or those that are not. */
interface Leaf {
  readonly set: DomainSet;
  readonly isExcluded?: boolean;
}

/** Undefined for a condition that is not just a set of the index. Within `few` domains its other members are left out. */
function leafOf(index: DomainIndex, query: Query, few: DomainSet | undefined): Leaf | undefined {
  switch (query.kind) {
    case 'terms':
      return termsLeaf(index, query, few);
    case 'tld':
      return { set: unionIn(few, tldSets(index, query)) };
    case 'version':
      return { set: unionIn(few, versionSets(index, query)) };
    case 'provider':
      return { set: unionIn(few, providerSets(index, query)) };
    case 'not': {
      const leaf = leafOf(index, query.of, few);
      return leaf && { set: leaf.set, isExcluded: !leaf.isExcluded };
    }
    case 'or': {
      const sets: DomainSet[] = [];
      for (const each of query.of) {
        const leaf = leafOf(index, each, few);
        if (!leaf || leaf.isExcluded) return undefined;
        sets.push(leaf.set);
      }
      return { set: union(sets) };
    }
    default:
      return undefined;
  }
}

const unionIn = (few: DomainSet | undefined, sets: readonly DomainSet[]): DomainSet =>
  few ? DomainSet.ofSorted(few.toArray().filter((domain) => sets.some((set) => set.has(domain)))) : union(sets);

function filtered(index: DomainIndex, leaves: readonly Leaf[], within: DomainSet | undefined): DomainSet {
  const [included = [], excluded = []] = [false, true].map((is) =>
    leaves.filter(({ isExcluded = false }) => isExcluded === is).map(({ set }) => set),
  );
  if (within) included.push(within);
  return filter(included.length > 0 ? included : [allDomains(index)], excluded);
}

type Of<Kind extends Condition['kind']> = Extract<Condition, { kind: Kind }>;

/** The terms of which each domain has exactly one. */
const EXCLUSIVE: Readonly<Partial<Record<IndexedTerm, readonly number[]>>> = {
  score: [...Array(MAX_SCORE + 1).keys(), NO_SCORE],
  sector: [...SECTORS.keys()],
  state: [...STATES.keys()],
};

/** The union of the few scores outside of a range takes less time than that of the many in it. */
function termsLeaf({ sets }: DomainIndex, { of, numbers }: Of<'terms'>, few: DomainSet | undefined): Leaf {
  const all = EXCLUSIVE[of] ?? [];
  const isExcluded = all.length > 0 && numbers.length * 2 > all.length;
  const some = isExcluded ? all.filter((number) => !numbers.includes(number)) : numbers;
  return {
    set: unionIn(
      few,
      some.map((number) => sets[of](number)),
    ),
    isExcluded,
  };
}

/** Cheap conditions first: those that visit every domain then visit few. */
function costOf(query: Query): number {
  switch (query.kind) {
    case 'time':
      return 3;
    case 'name':
      return 2;
    case 'and':
    case 'or':
      return Math.max(...query.of.map(costOf));
    case 'not':
      return costOf(query.of);
    default:
      return 1;
  }
}

function namedSet({ names, grams, tlds }: DomainIndex, { part, at }: Of<'name'>): DomainSet {
  switch (at) {
    case 'anywhere':
      return grams.search(part, names, tlds);
    case 'exact': {
      const domain = names.sorted.find(part);
      return DomainSet.ofSorted(Uint32Array.from(domain === undefined ? [] : [domain]));
    }
    case 'start': {
      const [from, to] = names.sorted.prefixRange(part);
      return DomainSet.ofSorted(names.sorted.numbers().slice(from, to).sort());
    }
    case 'end':
      return endingWith(names, bytesOf(part));
    default:
      return at satisfies never;
  }
}

function endingWith(names: NameTable, part: Uint8Array): DomainSet {
  return collected(names.limit, (add) => {
    names.each((domain, bytes, from, to) => {
      let i = part.length;
      while (i > 0 && bytes[to - part.length + i - 1] === part[i - 1]) i -= 1;
      if (i === 0 && to - from >= part.length) add(domain);
    });
  });
}

const NAME_TESTS: Readonly<Record<Of<'name'>['at'], (name: string, part: string) => boolean>> = {
  anywhere: (name, part) => name.includes(part),
  exact: (name, part) => name === part,
  start: (name, part) => name.startsWith(part),
  end: (name, part) => name.endsWith(part),
};

const namedIn = (few: DomainSet, { names }: DomainIndex, { part, at }: Of<'name'>): DomainSet =>
  DomainSet.ofSorted(few.toArray().filter((domain) => NAME_TESTS[at](names.name(domain), part)));

function tldSets({ tlds }: DomainIndex, { tld, isPrefix }: Of<'tld'>): DomainSet[] {
  if (!isPrefix) return [tlds.domains(tld)];
  const matching = Array.from(tlds.words()).filter((word) => word.startsWith(tld));
  return matching.map((word) => tlds.domains(word));
}

function providerSets(index: DomainIndex, { id, isPrefix, category }: Of<'provider'>): DomainSet[] {
  if (!isPrefix) return [providerSet(index, id, { category })];
  const ids = index.vocabulary.providers.words().filter((word) => word.startsWith(id));
  return ids.map((each) => providerSet(index, each, { category }));
}

/** The services that a condition is about. */
export interface ServiceFilter {
  readonly category?: Category | undefined;
  readonly role?: Role | undefined;
  /** Numbers of confidences. */
  readonly levels?: readonly number[] | undefined;
}

/** Domains that use a provider in such a service. */
export function providerSet(
  { vocabulary, sets }: DomainIndex,
  provider: string,
  { category, role, levels }: ServiceFilter,
): DomainSet {
  const number = vocabulary.providers.find(provider);
  if (number === undefined) return new DomainSet();
  if (category === undefined && role === undefined && levels === undefined) return sets.provider(number);
  const placements = vocabulary
    .placementsOf(number)
    .filter((placement) => category === undefined || placement.category === categoryNumber(category))
    .filter((placement) => role === undefined || placement.role === roleNumber(role));
  return union(
    placements.flatMap((placement) => (levels ?? [undefined]).map((level) => sets.placement(placement.number, level))),
  );
}

/** Of fewer domains than this share of all, each one is visited; otherwise the column is read to its end. */
const VISITED_SHARE = 1 / 8;

function timedIn(set: DomainSet, { columns, names }: DomainIndex, { of, from, to }: Of<'time'>): DomainSet {
  if (set.size > names.limit * VISITED_SHARE) return intersection(set, columns.between(of, from, to));
  // 0 is the time of what has not happened.
  const first = Math.max(from, 1);
  const matches = (domain: number) => {
    const time = columns.page(domain).time(rowOf(domain), of);
    return time >= first && time <= to;
  };
  return DomainSet.ofSorted(set.toArray().filter(matches));
}

/** The set of the added domains, each added once: a bitmap is filled, whose bits need no order. */
function collected(limit: number, visit: (add: (domain: number) => void) => void): DomainSet {
  const bits = new Uint32Array((limit + 31) >>> 5);
  let size = 0;
  visit((domain) => {
    bits[domain >>> 5] = (bits[domain >>> 5] as number) | (1 << (domain & 31));
    size += 1;
  });
  return new DomainSet({ bits, size });
}
