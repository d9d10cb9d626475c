// Providers over all domains: the leaders, and the number of providers.
import type { Category } from '@strata/detect';
import { categoryAt, categoryNumber } from '../columns/terms.ts';
import { compareText } from '../compare-text.ts';
import type { DomainIndex } from '../index/domain-index.ts';

export interface Leader {
  readonly rank: number;
  readonly provider: string;
  readonly categories: readonly Category[];
  readonly domains: number;
  /** Of all scanned domains. */
  readonly share: number;
  /** Domains gained minus domains lost, confirmed over the last 30 days, today included. */
  readonly change30d: number;
}

export const TREND_DAYS = 30;

/**
 * Providers by the number of domains that use them, in any category and with any confidence; only those after a number of domains and
 * an id. `today` is a day number.
 */
export function leaders(
  index: DomainIndex,
  {
    today,
    limit,
    after,
  }: { readonly today: number; readonly limit: number; readonly after?: readonly [number, string] },
): Leader[] {
  const ranked = index.vocabulary.providers
    .words()
    .map((provider, number) => ({ provider, number, domains: index.sets.provider(number).size }))
    .filter(({ domains }) => domains > 0)
    .sort((a, b) => b.domains - a.domains || compareText(a.provider, b.provider));
  const first = after
    ? ranked.findIndex(({ domains, provider }) => domains < after[0] || (domains === after[0] && provider > after[1]))
    : 0;
  if (first < 0) return [];
  return ranked.slice(first, first + limit).map(({ provider, number, domains }, i) => ({
    rank: first + i + 1,
    provider,
    categories: categoriesOf(index, number),
    domains,
    share: domains / index.size,
    change30d: netMovement(index, { provider }, today),
  }));
}

/** Rank of a provider among the leaders; equal counts are in the order of ids. */
export function rankOf(index: DomainIndex, provider: string): number {
  const number = index.vocabulary.providers.find(provider);
  const own = number === undefined ? 0 : index.sets.provider(number).size;
  let rank = 1;
  for (const [other, word] of index.vocabulary.providers.words().entries()) {
    const { size } = index.sets.provider(other);
    if (size > own || (size === own && size > 0 && word < provider)) rank += 1;
  }
  return rank;
}

/** Categories in which at least one domain uses it. */
export function categoriesOf(index: DomainIndex, provider: number): Category[] {
  return index.vocabulary
    .placementsOf(provider)
    .filter(({ number }) => index.sets.placement(number).size > 0)
    .map(({ category }) => categoryAt(category));
}

/** Domains gained minus domains lost over the last 30 days, in one category or all. `today` is a day number. */
export function netMovement(
  index: DomainIndex,
  subject: { readonly provider: string; readonly category?: Category },
  today: number,
): number {
  const { gained, lost } = index.history.movement(subject, today - TREND_DAYS + 1, today);
  return gained - lost;
}

/** Domains with any service in a category, and the number of its providers. */
export function categorySize(
  index: DomainIndex,
  category: Category,
): { readonly domains: number; readonly providers: number } {
  const number = categoryNumber(category);
  const placements = index.vocabulary.placements.filter((placement) => placement.category === number);
  return {
    domains: index.sets.category(number).size,
    providers: placements.filter((placement) => index.sets.placement(placement.number).size > 0).length,
  };
}

/** Providers in use by at least one domain. */
export function providersInUse(index: DomainIndex): number {
  let count = 0;
  for (let number = 0; number < index.vocabulary.providers.size; number += 1) {
    if (index.sets.provider(number).size > 0) count += 1;
  }
  return count;
}
