// Who uses whom, worked out from the domains themselves: the definitions of docs/metrics.md, word by word.
import type { Category } from '@strata/detect';
import { Vocabulary } from '../columns/terms.ts';
import { DomainIndex, type IndexedDomain } from '../index/domain-index.ts';
import { roleOf } from './random-domains.ts';

export function indexOf(domains: readonly IndexedDomain[]): DomainIndex {
  const index = new DomainIndex({ vocabulary: new Vocabulary([], [], roleOf) });
  for (const domain of domains) index.put(domain);
  return index;
}

/** Providers of a domain in a category that shares are counted from: those of high and medium confidence. */
export const firmProviders = ({ services }: IndexedDomain, category: Category): string[] =>
  services.filter((service) => service[0] === category && service[2] !== 'low').map(([, provider]) => provider);

export const usersOf = (domains: readonly IndexedDomain[], provider: string): IndexedDomain[] =>
  domains.filter(({ services }) => services.some((service) => service[1] === provider));

/** A domain that uses each service: `email acme high`. */
export const using = (...services: readonly string[]): Pick<IndexedDomain, 'services'> => ({
  services: services.map((service) => service.split(' ') as unknown as IndexedDomain['services'][number]),
});

/** A domain with default values except those given. */
export function plainDomain(id: number, given: Partial<IndexedDomain>): IndexedDomain {
  const nothing = { posture: 0, holders: 0, score: null, services: [] };
  return { id, name: `d${id}.com`, scannedAt: 1, state: 'active', sector: 'unknown', ...nothing, ...given };
}

type Kind = readonly [count: number, given: Partial<IndexedDomain>];

export function plainDomains(...kinds: readonly Kind[]): IndexedDomain[] {
  return kinds
    .flatMap(([count, given]) => Array.from({ length: count }, () => given))
    .map((given, i) => plainDomain(i + 1, given));
}
