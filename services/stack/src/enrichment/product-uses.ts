// What domains show of a product, build by build, put together from the index.
import type { Build } from '@strata/advisories';
import { type DomainIndex, DomainSet, LEVELS } from '@strata/analytics';

/** Domains that show the same of a product. */
export interface Use {
  readonly build: Build;
  readonly domains: DomainSet;
}

export const NO_VERSION: Build = { version: null, platform: null };
const LOW = LEVELS.indexOf('low');

/** Every use of a product; no domain is in two of them. Those that show no version come last. */
export function usesOf(index: DomainIndex, product: string): readonly Use[] {
  const uses = index
    .buildsOf(product)
    .map(({ version, platform, domains }) => ({ build: { version, platform }, domains }));
  const rest = firmUsers(index, product).clone();
  for (const { domains } of uses) domains.each((domain) => rest.delete(domain));
  return rest.size === 0 ? uses : [...uses, { build: NO_VERSION, domains: rest }];
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

/** Sets joined; a single one is not copied. */
export function unionOf(sets: Iterable<DomainSet>): DomainSet {
  let union = new DomainSet();
  for (const set of sets) union = union.size === 0 ? set : set.size === 0 ? union : union.or(set);
  return union;
}
