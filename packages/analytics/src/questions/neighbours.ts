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

/** Providers with enough common domains, unordered; without other brands of the same owner. */
export function neighboursOf(
  population: Population,
  provider: string,
  { ownerOf }: { readonly ownerOf: (provider: string) => string },
): Neighbour[] {
  const { vocabulary, sets, tallies, within } = population;
  const { providers } = vocabulary;
  const number = providers.find(provider);
  if (number === undefined) return [];
  const owner = ownerOf(provider);
  const own = within && intersection(within, sets.provider(number));
  const found: Neighbour[] = [];
  for (const [other, name] of providers.words().entries()) {
    if (other === number) continue;
    const domains = own ? intersectionSize(own, sets.provider(other)) : tallies.together(number, other);
    if (domains < MIN_SUPPORT || ownerOf(name) === owner) continue;
    found.push({ provider: name, domains, size: sizeIn(population, sets.provider(other)) });
  }
  return found;
}
