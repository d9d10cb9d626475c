// The domains that an aggregate counts: all of the index, or those of a query, counted on request.
import type { DomainIndex } from '../index/domain-index.ts';
import { Tallies } from '../index/tallies.ts';
import type { DomainSet } from '../sets/domain-set.ts';
import { intersectionSize } from '../sets/set-operations.ts';

/** A complete index is one. */
export interface Population extends Pick<DomainIndex, 'vocabulary' | 'sets' | 'tallies' | 'size'> {
  /** Undefined for all domains. */
  readonly within?: DomainSet;
}

/** The number of domains of the population in a set of the index. */
export const sizeIn = ({ within }: Population, set: DomainSet): number =>
  within ? intersectionSize(set, within) : set.size;

/** Domains counted between two yields: one to two milliseconds. */
const BATCH = 1_000;

/**
 * Counts the domains of a set; those of the complete index are counted already. Yields after every batch, so that the
 * caller can do other work. A domain that changes between two batches counts as it was, or as it is.
 */
export function* countDomains(index: DomainIndex, within: DomainSet): Generator<undefined, Population> {
  // The index may be replaced by another one between two batches.
  const { names, columns, vocabulary, sets, size } = index;
  if (within.size === size) return { vocabulary, sets, tallies: index.tallies, size, within };
  // Without pairs of providers: their number is the size of an intersection with `within`.
  const tallies = new Tallies(vocabulary);
  for (const [at, domain] of within.toArray().entries()) {
    if (names.has(domain)) tallies.count(columns.facts(domain), columns.services(domain), 1);
    if (at % BATCH === BATCH - 1) yield;
  }
  return { vocabulary, sets, tallies, size: within.size, within };
}
