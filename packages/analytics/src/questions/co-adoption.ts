// Providers used together with a provider, and whether more often than by chance.
import { compareText } from '../compare-text.ts';
import type { DomainIndex } from '../index/domain-index.ts';
import { neighboursOf } from './neighbours.ts';

export interface CoAdoption {
  readonly provider: string;
  /** Domains that use both. */
  readonly domains: number;
  /** |A ∩ B| / |A ∪ B|. */
  readonly jaccard: number;
  /** How many times more often both occur together than if they were independent, over all scanned domains. */
  readonly lift: number;
}

/** Providers used together with a provider, closest first, without other brands of its owner. */
export function coAdoption(
  index: DomainIndex,
  provider: string,
  { ownerOf, limit }: { readonly ownerOf: (provider: string) => string; readonly limit: number },
): CoAdoption[] {
  const number = index.vocabulary.providers.find(provider);
  if (number === undefined) return [];
  const own = index.sets.provider(number).size;
  return neighboursOf(index, provider, { ownerOf })
    .map(({ provider, domains, size }) => ({
      provider,
      domains,
      jaccard: domains / (own + size - domains),
      lift: (domains * index.size) / (own * size),
    }))
    .sort((a, b) => b.jaccard - a.jaccard || compareText(a.provider, b.provider))
    .slice(0, limit);
}
