// Providers used together with a provider.
import { intersection, intersectionSize } from '../sets/set-operations.ts';
import { type Population, sizeIn } from './population.ts';

/** Fewer common domains may be chance. */
export const MIN_SUPPORT = 20;

export interface Neighbour {
  readonly provider: string;
  /** Domains that use both. */
  readonly domains: number;
  /** Domains that use the neighbour. */
  readonly size: number;
}

/** The domains of a provider, and the providers that they use in addition. */
export interface Neighbourhood {
  /** All domains of the population. */
  readonly population: number;
  /** Domains that use the provider, in any category and with any confidence. */
  readonly domains: number;
  /** Domains with a role in which it is the only provider of high or medium confidence. */
  readonly soleSourceDomains: number;
  /** Those with enough common domains, unordered; without other brands of the same owner. */
  readonly neighbours: readonly Neighbour[];
}

export function neighbourhood(
  population: Population,
  provider: string,
  { ownerOf }: { readonly ownerOf: (provider: string) => string },
): Neighbourhood {
  const { vocabulary, sets, tallies, within } = population;
  const { providers } = vocabulary;
  const number = providers.find(provider);
  if (number === undefined) return { population: population.size, domains: 0, soleSourceDomains: 0, neighbours: [] };
  const owner = ownerOf(provider);
  const own = within && intersection(within, sets.provider(number));
  const neighbours: Neighbour[] = [];
  for (const [other, name] of providers.words().entries()) {
    if (other === number) continue;
    const domains = own ? intersectionSize(own, sets.provider(other)) : tallies.together(number, other);
    if (domains < MIN_SUPPORT || ownerOf(name) === owner) continue;
    neighbours.push({ provider: name, domains, size: sizeIn(population, sets.provider(other)) });
  }
  const domains = sizeIn(population, sets.provider(number));
  return { population: population.size, domains, soleSourceDomains: tallies.soleSource(number), neighbours };
}
