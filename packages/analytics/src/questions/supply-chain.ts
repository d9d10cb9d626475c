// The domains that depend on a provider: how many, in which markets, which exclusively, and their other providers.
import { compareText } from '../compare-text.ts';
import type { Market, RoleMarket } from './concentration.ts';
import type { Neighbour, Neighbourhood } from './neighbours.ts';

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

export interface SupplyChainOptions {
  /** Of all categories and roles, in the same population. */
  readonly markets: { readonly categories: readonly Market[]; readonly roles: readonly RoleMarket[] };
  readonly limit: number;
}

/** The domains that depend on a provider, and their other providers. */
export function supplyChain(
  provider: string,
  { population, domains, soleSourceDomains, neighbours }: Neighbourhood,
  { markets, limit }: SupplyChainOptions,
): SupplyChain {
  const ranked = (shareOf: (neighbour: Neighbour) => number): Dependence[] =>
    neighbours
      .map((neighbour) => ({
        provider: neighbour.provider,
        domains: neighbour.domains,
        share: shareOf(neighbour),
      }))
      .sort((a, b) => b.share - a.share || b.domains - a.domains || compareText(a.provider, b.provider))
      .slice(0, limit);
  return {
    population,
    dependentDomains: domains,
    markets: heldBy(provider, markets.categories),
    roleMarkets: heldBy(provider, markets.roles),
    soleSourceDomains,
    upstream: ranked((neighbour) => neighbour.domains / domains),
    downstream: ranked((neighbour) => neighbour.domains / neighbour.size),
  };
}

function heldBy<Of extends Market>(provider: string, all: readonly Of[]): HeldMarket<Of>[] {
  return all.flatMap((market) => {
    const own = market.providers.find((each) => each.provider === provider);
    return own ? [{ market, share: own.share }] : [];
  });
}
