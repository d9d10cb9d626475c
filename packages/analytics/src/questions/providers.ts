// Providers over all domains: the leaders, and the number of providers.
import type { Category } from '@strata/detect';
import { categoryAt, categoryNumber } from '../columns/terms.ts';
import { compareText } from '../compare-text.ts';
import type { DomainIndex } from '../index/domain-index.ts';
import type { DomainSet } from '../sets/domain-set.ts';
import { intersectionSize } from '../sets/set-operations.ts';
import { type Population, sizeIn } from './population.ts';

export interface Leader {
  readonly rank: number;
  readonly provider: string;
  readonly categories: readonly Category[];
  readonly domains: number;
  /** Of all scanned domains, or of the set. */
  readonly share: number;
  /** Domains gained minus domains lost, confirmed over the last 30 days, today included; null within a set. */
  readonly change30d: number | null;
}

export const TREND_DAYS = 30;

export interface LeadersOptions {
  /** Day number. */
  readonly today: number;
  readonly limit: number;
  /** Only those after a number of domains and an id. */
  readonly after?: readonly [number, string];
  /** Only these. */
  readonly providers?: readonly string[];
}

export interface Leaders {
  /** Providers with at least one domain. */
  readonly total: number;
  readonly leaders: readonly Leader[];
}

/** Providers by the number of domains that use them, in any category and with any confidence, of all or of a set. */
export function leaders(
  index: DomainIndex,
  { today, limit, after, providers, within }: LeadersOptions & { readonly within?: DomainSet | undefined },
): Leaders {
  const sizeOf = (number: number) => {
    const all = index.sets.provider(number);
    return within ? intersectionSize(all, within) : all.size;
  };
  const ranked = index.vocabulary.providers
    .words()
    .map((provider, number) => ({ provider, number, domains: sizeOf(number) }))
    .filter(({ domains }) => domains > 0)
    .sort((a, b) => b.domains - a.domains || compareText(a.provider, b.provider))
    .map((each, i) => ({ ...each, rank: i + 1 }));
  const isWanted = ({ domains, provider }: (typeof ranked)[number]) =>
    (!after || domains < after[0] || (domains === after[0] && provider > after[1])) &&
    (providers?.includes(provider) ?? true);
  const page = ranked.filter(isWanted).slice(0, limit);
  const found = page.map(({ provider, number, domains, rank }) => ({
    rank,
    provider,
    categories: categoriesOf(index, number, within),
    domains,
    share: domains / (within ?? index).size,
    change30d: within ? null : netMovement(index, { provider }, today),
  }));
  return { total: ranked.length, leaders: found };
}

/** Categories in which at least one domain, of all or of a set, uses it. */
export function categoriesOf(index: DomainIndex, provider: number, within?: DomainSet): Category[] {
  const sizeOf = (set: DomainSet) => (within ? intersectionSize(set, within) : set.size);
  return index.vocabulary
    .placementsOf(provider)
    .filter(({ number }) => sizeOf(index.sets.placement(number)) > 0)
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
  population: Population,
  category: Category,
): { readonly domains: number; readonly providers: number } {
  const number = categoryNumber(category);
  const placements = population.vocabulary.placements.filter((placement) => placement.category === number);
  return {
    domains: sizeIn(population, population.sets.category(number)),
    providers: placements.filter((placement) => sizeIn(population, population.sets.placement(placement.number)) > 0)
      .length,
  };
}

/** Providers in use by at least one domain. */
export function providersInUse(population: Population): number {
  let count = 0;
  for (let number = 0; number < population.vocabulary.providers.size; number += 1) {
    if (sizeIn(population, population.sets.provider(number)) > 0) count += 1;
  }
  return count;
}

/** Number of domains that use a provider; undefined if none ever did. */
export function usersOf({ vocabulary, sets }: DomainIndex, providerId: string): number | undefined {
  const provider = vocabulary.providers.find(providerId);
  return provider === undefined ? undefined : sets.provider(provider).size;
}
