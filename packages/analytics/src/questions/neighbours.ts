// Providers used together with a provider.
import type { DomainIndex } from '../index/domain-index.ts';

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
  index: DomainIndex,
  provider: string,
  { ownerOf }: { readonly ownerOf: (provider: string) => string },
): Neighbour[] {
  const { providers } = index.vocabulary;
  const number = providers.find(provider);
  if (number === undefined) return [];
  const owner = ownerOf(provider);
  const found: Neighbour[] = [];
  for (const [other, name] of providers.words().entries()) {
    const domains = other === number ? 0 : index.tallies.together(number, other);
    if (domains < MIN_SUPPORT || ownerOf(name) === owner) continue;
    found.push({ provider: name, domains, size: index.sets.provider(other).size });
  }
  return found;
}
