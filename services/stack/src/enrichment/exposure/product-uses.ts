// The builds of a product that domains show, from the index.
import type { Build } from '@strata/advisories';
import { type DomainIndex, type DomainSet, difference, LEVELS, union } from '@strata/analytics';
import type { ConfidenceLevel } from '@strata/detect';

/** Domains that show the same build of a product. */
export interface Use {
  readonly build: Build;
  readonly domains: DomainSet;
}

export interface ObservedService extends Build {
  readonly provider: string;
  readonly confidence: ConfidenceLevel;
}

export const NO_VERSION: Build = { version: null, platform: null };
const LOW = LEVELS.indexOf('low');

/** Every use of a product, each domain once. Domains without a version come last. */
export function usesOf(index: DomainIndex, product: string): readonly Use[] {
  const uses = index
    .buildsOf(product)
    .map(({ version, platform, domains }) => ({ build: { version, platform }, domains }));
  const rest = difference(firmUsers(index, product), union(uses.map(({ domains }) => domains)));
  return rest.size === 0 ? uses : [...uses, { build: NO_VERSION, domains: rest }];
}

/** The services of a domain with their builds in the index. */
export function servicesShown(index: DomainIndex, domain: number): ObservedService[] {
  return index.services(domain).map(([, provider, confidence]) => {
    return { provider, confidence, ...(index.buildOf(domain, provider) ?? NO_VERSION) };
  });
}

/** For each product the service with the highest confidence that shows a version, as in the index; low confidence is excluded. */
export function buildsShown(services: readonly ObservedService[]): ReadonlyMap<string, Build> {
  const surest = new Map<string, ObservedService>();
  for (const service of services) {
    const { provider, confidence, version } = service;
    if (confidence === 'low') continue;
    const other = surest.get(provider);
    const isBetter = !other?.version || LEVELS.indexOf(confidence) < LEVELS.indexOf(other.confidence);
    if (!other || (version && isBetter)) surest.set(provider, service);
  }
  return new Map(
    [...surest].map(([provider, { version, platform }]) => [provider, version ? { version, platform } : NO_VERSION]),
  );
}

/** Domains that use a provider with more than low confidence. */
function firmUsers({ vocabulary, sets }: DomainIndex, provider: string): DomainSet {
  const number = vocabulary.providers.find(provider);
  const placements = number === undefined ? [] : vocabulary.placementsOf(number);
  return union(placements.map((each) => difference(sets.placement(each.number), sets.placement(each.number, LOW))));
}
