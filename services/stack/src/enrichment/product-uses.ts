// What domains show of a product, build by build, put together from the index.
import type { Build } from '@strata/advisories';
import { type DomainIndex, DomainSet, LEVELS } from '@strata/analytics';
import type { ConfidenceLevel } from '@strata/detect';

/** Domains that show the same of a product. */
export interface Use {
  readonly build: Build;
  readonly domains: DomainSet;
}

export interface SeenService extends Build {
  readonly provider: string;
  readonly confidence: ConfidenceLevel;
}

export const NO_VERSION: Build = { version: null, platform: null };
const LOW = LEVELS.indexOf('low');

/** Every use of a product; no domain is in two of them. Those that show no version come last. */
export function usesOf(index: DomainIndex, product: string): readonly Use[] {
  const uses = index
    .buildsOf(product)
    .map(({ version, platform, domains }) => ({ build: { version, platform }, domains }));
  const rest = firmUsers(index, product).andNot(unionOf(uses.map(({ domains }) => domains)));
  return rest.size === 0 ? uses : [...uses, { build: NO_VERSION, domains: rest }];
}

/** What a domain uses, each with what the index says that it shows of it. */
export function servicesShown(index: DomainIndex, domain: number): SeenService[] {
  return index.services(domain).map(([, provider, confidence]) => {
    return { provider, confidence, ...(index.buildOf(domain, provider) ?? NO_VERSION) };
  });
}

/** Of each product the surest service that shows a version, as the index keeps it; what is seen with low confidence is none. */
export function buildsShown(services: readonly SeenService[]): ReadonlyMap<string, Build> {
  const surest = new Map<string, SeenService>();
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
function firmUsers(index: DomainIndex, provider: string): DomainSet {
  const number = index.vocabulary.providers.find(provider);
  if (number === undefined) return new DomainSet();
  const sets = index.vocabulary.placementsOf(number).map(({ number: placement }) => {
    const low = index.sets.placement(placement, LOW);
    const all = index.sets.placement(placement);
    return low.size === 0 ? all : all.andNot(low);
  });
  return unionOf(sets);
}

/** Sets joined, two by two, so that many small ones do not copy a large one each; a single one is not copied. */
export function unionOf(sets: Iterable<DomainSet>): DomainSet {
  let left = [...sets].filter((set) => set.size > 0);
  while (left.length > 1) {
    const joined: DomainSet[] = [];
    for (let i = 0; i < left.length; i += 2) {
      const [one, other] = [left[i] as DomainSet, left[i + 1]];
      joined.push(other ? one.or(other) : one);
    }
    left = joined;
  }
  return left[0] ?? new DomainSet();
}
