// The builds of a product that domains show, from the index.
import type { Build } from '@strata/advisories';
import { type DomainIndex, DomainSet, LEVELS } from '@strata/analytics';
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
  const shown = new Marks(index.names.limit);
  for (const { domains } of uses) shown.add(domains);
  const rest = shown.missingOf(firmUsers(index, product));
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
function firmUsers(index: DomainIndex, provider: string): DomainSet {
  const number = index.vocabulary.providers.find(provider);
  if (number === undefined) return new DomainSet();
  const sets = index.vocabulary.placementsOf(number).map(({ number: placement }) => {
    const low = index.sets.placement(placement, LOW);
    const all = index.sets.placement(placement);
    return low.size === 0 ? all : all.andNot(low);
  });
  return unionOf(sets, index.names.limit);
}

/** The union of sets of domains below a limit; a single set is not copied. */
export function unionOf(sets: readonly DomainSet[], limit: number): DomainSet {
  const [first, ...more] = sets.filter((set) => set.size > 0);
  if (!first || more.length === 0) return first ?? new DomainSet();
  const marks = new Marks(limit);
  for (const set of [first, ...more]) marks.add(set);
  return marks.toSet();
}

/** One bit per domain: unites hundreds of sets in one pass over their members. */
class Marks {
  readonly #bits: Uint32Array;
  #count = 0;

  constructor(limit: number) {
    this.#bits = new Uint32Array((limit + 31) >>> 5);
  }

  add(set: DomainSet): void {
    const bits = this.#bits;
    set.each((domain) => {
      const bit = 1 << (domain & 31);
      const word = bits[domain >>> 5] as number;
      if ((word & bit) !== 0) return;
      bits[domain >>> 5] = word | bit;
      this.#count += 1;
    });
  }

  /** Members of a set that are not marked. */
  missingOf(set: DomainSet): DomainSet {
    const missing: number[] = [];
    set.each((domain) => {
      if (((this.#bits[domain >>> 5] as number) & (1 << (domain & 31))) === 0) missing.push(domain);
    });
    return DomainSet.of(missing);
  }

  toSet(): DomainSet {
    return DomainSet.isDense(this.#count, this.#bits.length * 32)
      ? DomainSet.ofBits(this.#bits, this.#count)
      : DomainSet.of(this.#members());
  }

  *#members(): Generator<number> {
    for (const [at, word] of this.#bits.entries()) {
      for (let rest = word; rest !== 0; rest &= rest - 1) yield at * 32 + 31 - Math.clz32(rest & -rest);
    }
  }
}
