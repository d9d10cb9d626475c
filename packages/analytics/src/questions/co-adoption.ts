// What else the users of a provider use, and whether that is more than chance would bring.
import { compareText } from '../compare-text.ts';
import type { DomainIndex } from '../index/domain-index.ts';
import { neighboursOf } from './neighbours.ts';

export interface CoAdoption {
  readonly provider: string;
  /** Domains that use both. */
  readonly domains: number;
  /** |A ∩ B| / |A ∪ B|. */
  readonly jaccard: number;
  /** How many times more often together than if one did not care for the other, over all scanned domains. */
  readonly lift: number;
}

/** What is used together with a provider, closest first; other brands of its owner are left out. */
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
