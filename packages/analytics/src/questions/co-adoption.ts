// Providers used together with a provider, and whether more often than by chance.
import { compareText } from '../compare-text.ts';
import type { Neighbourhood } from './neighbours.ts';

export interface CoAdoption {
  readonly provider: string;
  /** Domains that use both. */
  readonly domains: number;
  /** |A ∩ B| / |A ∪ B|. */
  readonly jaccard: number;
  /** How many times more often both occur together than if they were independent, over all domains of the population. */
  readonly lift: number;
}

/** Providers used together with a provider, closest first. */
export function coAdoption({ population, domains: own, neighbours }: Neighbourhood, limit: number): CoAdoption[] {
  return neighbours
    .map(({ provider, domains, size }) => ({
      provider,
      domains,
      jaccard: domains / (own + size - domains),
      lift: (domains * population) / (own * size),
    }))
    .sort((a, b) => b.jaccard - a.jaccard || compareText(a.provider, b.provider))
    .slice(0, limit);
}
