// The domains that depend on a provider: how many, in which markets, which exclusively, and their other providers.
import { compareText } from '../compare-text.ts';
import { type Market, type MarketOptions, markets, type RoleMarket, roleMarkets } from './concentration.ts';
import { type Neighbour, neighboursOf } from './neighbours.ts';
import { type Population, sizeIn } from './population.ts';

export interface Dependence {
  readonly provider: string;
  readonly domains: number;
  /** Upstream: of this provider's domains. Downstream: of the other provider's. */
  readonly share: number;
}

export interface HeldMarket<Of extends Market> {
  readonly market: Of;
  readonly share: number;
}

export interface SupplyChain {
  /** Domains of the population. */
  readonly population: number;
  readonly dependentDomains: number;
  /** Categories and roles in which it has domains, with its share. */
  readonly markets: readonly HeldMarket<Market>[];
  readonly roleMarkets: readonly HeldMarket<RoleMarket>[];
  /** Domains with a role in which it is the only provider of high or medium confidence. */
  readonly soleSourceDomains: number;
  readonly upstream: readonly Dependence[];
  readonly downstream: readonly Dependence[];
}

/** The domains that depend on a provider, and their other providers. */
export function supplyChain(
  population: Population,
  provider: string,
  options: MarketOptions & { readonly limit: number },
): SupplyChain {
  const number = population.vocabulary.providers.find(provider);
  const none = {
    dependentDomains: 0,
    markets: [],
    roleMarkets: [],
    soleSourceDomains: 0,
    upstream: [],
    downstream: [],
  };
  if (number === undefined) return { population: population.size, ...none };
  const dependentDomains = sizeIn(population, population.sets.provider(number));
  const neighbours = neighboursOf(population, provider, options);
  const ranked = (shareOf: (neighbour: Neighbour) => number): Dependence[] =>
    neighbours
      .map((neighbour) => ({
        provider: neighbour.provider,
        domains: neighbour.domains,
        share: shareOf(neighbour),
      }))
      .sort((a, b) => b.share - a.share || b.domains - a.domains || compareText(a.provider, b.provider))
      .slice(0, options.limit);
  return {
    population: population.size,
    dependentDomains,
    markets: heldBy(provider, markets(population, options)),
    roleMarkets: heldBy(provider, roleMarkets(population, options)),
    soleSourceDomains: population.tallies.soleSource(number),
    upstream: ranked(({ domains }) => domains / dependentDomains),
    downstream: ranked(({ domains, size }) => domains / size),
  };
}

function heldBy<Of extends Market>(provider: string, all: readonly Of[]): HeldMarket<Of>[] {
  return all.flatMap((market) => {
    const own = market.providers.find((each) => each.provider === provider);
    return own ? [{ market, share: own.share }] : [];
  });
}
