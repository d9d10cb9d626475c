// Providers over all domains: leaders, how one grew, what is used together with it, and who depends on it.
import type { Category } from '@strata/detect';
import { compareText } from './compare-text.ts';
import { type Market, type MarketOptions, markets } from './concentration.ts';
import type { DomainIndex } from './domain-index.ts';
import { categoryAt } from './terms.ts';

export interface Leader {
  readonly rank: number;
  readonly provider: string;
  readonly categories: readonly Category[];
  readonly domains: number;
  /** Of all scanned domains. */
  readonly share: number;
  /** Domains gained less domains lost, confirmed over the last 30 days, today included. */
  readonly change30d: number;
}

export const TREND_DAYS = 30;

/** Providers by the number of domains that use them, in any category and with any confidence. `today` is a day number. */
export function leaders(
  index: DomainIndex,
  { today, limit }: { readonly today: number; readonly limit: number },
): Leader[] {
  const sizes = index.vocabulary.providers
    .words()
    .map((provider, number) => ({ provider, number, domains: index.sets.provider(number).size }))
    .filter(({ domains }) => domains > 0)
    .sort((a, b) => b.domains - a.domains || compareText(a.provider, b.provider))
    .slice(0, limit);
  return sizes.map(({ provider, number, domains }, i) => ({
    rank: i + 1,
    provider,
    categories: categoriesOf(index, number),
    domains,
    share: domains / index.size,
    change30d: netMovement(index, provider, today),
  }));
}

/** Place of a provider among the leaders; equal numbers stand in the order of their ids. */
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

/** Categories in which some domain uses it. */
export function categoriesOf(index: DomainIndex, provider: number): Category[] {
  return index.vocabulary
    .placementsOf(provider)
    .filter(({ number }) => index.sets.placement(number).size > 0)
    .map(({ category }) => categoryAt(category));
}

function netMovement(index: DomainIndex, provider: string, today: number): number {
  const { gained, lost } = index.history.movement({ provider }, today - TREND_DAYS + 1, today);
  return gained - lost;
}

/** Providers in use by some domain. */
export function providersInUse(index: DomainIndex): number {
  let count = 0;
  for (let number = 0; number < index.vocabulary.providers.size; number += 1) {
    if (index.sets.provider(number).size > 0) count += 1;
  }
  return count;
}

/** For each provider number, the domains that use both it and this one. */
export function usedTogether(index: DomainIndex, provider: number): Uint32Array {
  return Uint32Array.from({ length: index.vocabulary.providers.size }, (_, other) =>
    index.tallies.together(provider, other),
  );
}

export interface CoAdoption {
  readonly provider: string;
  readonly domains: number;
  /** |A ∩ B| / |A ∪ B|. */
  readonly jaccard: number;
  /** How many times more often together than if one did not care for the other. */
  readonly lift: number;
}

/** Fewer common domains than this are chance. */
export const LEAST_SUPPORT = 20;

/** What is used together with a provider, closest first; other brands of its owner are left out. */
export function coAdoption(
  index: DomainIndex,
  provider: string,
  { ownerOf, limit }: { readonly ownerOf: (provider: string) => string; readonly limit: number },
): CoAdoption[] {
  const number = index.vocabulary.providers.find(provider);
  if (number === undefined) return [];
  const own = index.sets.provider(number).size;
  const owner = ownerOf(provider);
  const found: CoAdoption[] = [];
  for (const [other, domains] of usedTogether(index, number).entries()) {
    if (domains < LEAST_SUPPORT || other === number) continue;
    const name = index.vocabulary.providers.word(other);
    if (ownerOf(name) === owner) continue;
    const { size } = index.sets.provider(other);
    const jaccard = domains / (own + size - domains);
    found.push({ provider: name, domains, jaccard, lift: (domains * index.size) / (own * size) });
  }
  return found.sort((a, b) => b.jaccard - a.jaccard || compareText(a.provider, b.provider)).slice(0, limit);
}

export interface CurvePoint {
  readonly day: number;
  readonly domains: number;
  readonly added: number;
  readonly removed: number;
}

/**
 * Domains by day, from `from` up to and with `to`, on the panel of today: a domain counts as having used before we first
 * looked what it used then, so that a longer list of domains looks like no adoption.
 */
export function adoptionCurve(
  index: DomainIndex,
  subject: { readonly provider: string; readonly category?: Category },
  { from, to }: { readonly from: number; readonly to: number },
): CurvePoint[] {
  let domains = domainsNow(index, subject);
  const points: CurvePoint[] = [];
  for (let day = to; day >= from; day -= 1) {
    const { gained, lost } = index.history.movement(subject, day, day);
    points.push({ day, domains: Math.max(0, domains), added: gained, removed: lost });
    domains -= gained - lost;
  }
  return points.reverse();
}

function domainsNow(
  index: DomainIndex,
  { provider, category }: { readonly provider: string; readonly category?: Category },
): number {
  const number = index.vocabulary.providers.find(provider);
  if (number === undefined) return 0;
  if (category === undefined) return index.sets.provider(number).size;
  const placement = index.vocabulary.placementsOf(number).find((each) => categoryAt(each.category) === category);
  return placement ? index.sets.placement(placement.number).size : 0;
}

export interface Dependence {
  readonly provider: string;
  readonly domains: number;
  /** Upstream: of this provider's domains. Downstream: of the other's. */
  readonly share: number;
}

export interface SupplyChain {
  readonly dependentDomains: number;
  /** Markets in which it has domains, with its place in them. */
  readonly markets: readonly { readonly market: Market; readonly share: number }[];
  /** Domains with a category in which it is the only provider of high or medium confidence. */
  readonly soleSourceDomains: number;
  readonly upstream: readonly Dependence[];
  readonly downstream: readonly Dependence[];
}

/** Who depends on a provider, and on whom they depend besides. */
export function supplyChain(
  index: DomainIndex,
  provider: string,
  options: MarketOptions & { readonly limit: number },
): SupplyChain {
  const number = index.vocabulary.providers.find(provider);
  if (number === undefined)
    return { dependentDomains: 0, markets: [], soleSourceDomains: 0, upstream: [], downstream: [] };
  const dependentDomains = index.sets.provider(number).size;
  const together = usedTogether(index, number);
  const owner = options.ownerOf(provider);
  const others: { readonly provider: string; readonly domains: number; readonly size: number }[] = [];
  for (const [other, domains] of together.entries()) {
    const name = index.vocabulary.providers.word(other);
    if (other === number || domains < LEAST_SUPPORT || options.ownerOf(name) === owner) continue;
    others.push({ provider: name, domains, size: index.sets.provider(other).size });
  }
  const ranked = (shareOf: (other: (typeof others)[number]) => number): Dependence[] =>
    others
      .map((other) => ({ provider: other.provider, domains: other.domains, share: shareOf(other) }))
      .sort((a, b) => b.share - a.share || b.domains - a.domains || compareText(a.provider, b.provider))
      .slice(0, options.limit);
  return {
    dependentDomains,
    markets: markets(index, options).flatMap((market) => {
      const own = market.providers.find((each) => each.provider === provider);
      return own ? [{ market, share: own.share }] : [];
    }),
    soleSourceDomains: index.tallies.soleSource(number),
    upstream: ranked(({ domains }) => domains / dependentDomains),
    downstream: ranked(({ domains, size }) => domains / size),
  };
}
