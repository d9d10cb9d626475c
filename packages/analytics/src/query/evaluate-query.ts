// Evaluates a query on the sets of the index. Every condition is evaluated within the domains that meet the previous ones.
import type { Category } from '@strata/detect';
import { bytesOf } from '../columns/byte-text.ts';
import type { NameTable } from '../columns/name-table.ts';
import { categoryNumber, STATES } from '../columns/terms.ts';
import type { DomainIndex } from '../index/domain-index.ts';
import { DomainSet } from '../sets/domain-set.ts';
import { difference, intersection, union } from '../sets/set-operations.ts';
import type { Condition, Query } from './query.ts';

export const allDomains = ({ sets }: DomainIndex): DomainSet => union(STATES.map((_, state) => sets.state(state)));

/** The domains that match; `within` is a set of existing domains. */
export function evaluateQuery(index: DomainIndex, query: Query, within: DomainSet = allDomains(index)): DomainSet {
  switch (query.kind) {
    case 'and':
      return query.of
        .toSorted((a, b) => costOf(a) - costOf(b))
        .reduce((found, each) => evaluateQuery(index, each, found), within);
    case 'or':
      return union(query.of.map((each) => evaluateQuery(index, each, within)));
    case 'not':
      return difference(within, evaluateQuery(index, query.of, within));
    case 'scanned':
      return scannedIn(within, index, query);
    case 'name':
      return intersection(within, namedSet(index, query));
    case 'terms':
      return intersection(within, union(query.numbers.map((number) => index.sets[query.of](number))));
    case 'tld':
      return intersection(within, tldSet(index, query));
    case 'provider':
      return intersection(within, providersSet(index, query));
    default:
      return query satisfies never;
  }
}

type Of<Kind extends Condition['kind']> = Extract<Condition, { kind: Kind }>;

/** Cheap conditions first: those that visit every domain then visit few. */
function costOf(query: Query): number {
  switch (query.kind) {
    case 'scanned':
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

function namedSet({ names, grams }: DomainIndex, { part, at }: Of<'name'>): DomainSet {
  switch (at) {
    case 'anywhere':
      return grams.search(part, names);
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

function tldSet({ tlds }: DomainIndex, { tld, isPrefix }: Of<'tld'>): DomainSet {
  if (!isPrefix) return tlds.domains(tld);
  const matching = Array.from(tlds.words()).filter((word) => word.startsWith(tld));
  return union(matching.map((word) => tlds.domains(word)));
}

function providersSet(index: DomainIndex, { id, isPrefix, category }: Of<'provider'>): DomainSet {
  if (!isPrefix) return providerSet(index, id, { category });
  const ids = index.vocabulary.providers.words().filter((word) => word.startsWith(id));
  return union(ids.map((each) => providerSet(index, each, { category })));
}

/** Domains that use a provider, in one category or any, with any of some confidences or with any. */
export function providerSet(
  { vocabulary, sets }: DomainIndex,
  provider: string,
  { category, levels }: { readonly category?: Category | undefined; readonly levels?: readonly number[] | undefined },
): DomainSet {
  const number = vocabulary.providers.find(provider);
  if (number === undefined) return new DomainSet();
  if (category === undefined && levels === undefined) return sets.provider(number);
  const placements = vocabulary
    .placementsOf(number)
    .filter((placement) => category === undefined || placement.category === categoryNumber(category));
  return union(
    placements.flatMap((placement) => (levels ?? [undefined]).map((level) => sets.placement(placement.number, level))),
  );
}

function scannedIn(set: DomainSet, { columns, names }: DomainIndex, { from, to }: Of<'scanned'>): DomainSet {
  return collected(names.limit, (add) => {
    set.each((domain) => {
      const at = columns.scannedAt(domain);
      if (at >= from && at <= to) add(domain);
    });
  });
}

/** The set of the added domains, each added once: a bitmap is filled, whose bits need no order. */
function collected(limit: number, visit: (add: (domain: number) => void) => void): DomainSet {
  const bits = new Uint32Array((limit + 31) >>> 5);
  let size = 0;
  visit((domain) => {
    bits[domain >>> 5] = (bits[domain >>> 5] as number) | (1 << (domain & 31));
    size += 1;
  });
  return DomainSet.ofBits(bits, size);
}
