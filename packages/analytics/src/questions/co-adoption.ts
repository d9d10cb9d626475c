// Providers used together with a provider, and whether more often than by chance.
import { compareText } from '../compare-text.ts';
import { neighboursOf } from './neighbours.ts';
import { type Population, sizeIn } from './population.ts';

export interface CoAdoption {
  readonly provider: string;
  /** Domains that use both. */
  readonly domains: number;
  /** |A ∩ B| / |A ∪ B|. */
  readonly jaccard: number;
  /** How many times more often both occur together than if they were independent, over all domains of the population. */
  readonly lift: number;
}

/** Providers used together with a provider, closest first, without other brands of its owner. */
export function coAdoption(
  population: Population,
  provider: string,
  { ownerOf, limit }: { readonly ownerOf: (provider: string) => string; readonly limit: number },
): CoAdoption[] {
  const number = population.vocabulary.providers.find(provider);
  if (number === undefined) return [];
  const own = sizeIn(population, population.sets.provider(number));
  return neighboursOf(population, provider, { ownerOf })
    .map(({ provider, domains, size }) => ({
      provider,
      domains,
      jaccard: domains / (own + size - domains),
      lift: (domains * population.size) / (own * size),
    }))
    .sort((a, b) => b.jaccard - a.jaccard || compareText(a.provider, b.provider))
    .slice(0, limit);
}
