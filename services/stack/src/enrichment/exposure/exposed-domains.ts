// The domains that an advisory possibly affects, by the evidence.
import { type Entry, isAffected } from '@strata/advisories';
import { type DomainSet, difference, union } from '@strata/analytics';
import type { Exposures } from './exposures.ts';
import type { Use } from './product-uses.ts';

/** `version`: domains that show an affected version; `product`: further domains that only use the product. */
export type ByEvidence<Value> = Readonly<Record<'version' | 'product', Value>>;

/** Domains possibly affected by an advisory through these products; one that shows an affected version is only in `version`. */
export function domainsOf(
  exposures: Exposures,
  entry: Entry,
  products: readonly string[] = entry.products,
): ByEvidence<DomainSet> {
  const sets = { version: [] as DomainSet[], product: [] as DomainSet[] };
  for (const { kind, domains } of usesNamedBy(exposures, entry, products)) sets[kind].push(domains);
  const [version, product] = [union(sets.version), union(sets.product)];
  return { version, product: version.size === 0 ? product : difference(product, version) };
}

/** Number of domains possibly affected by an advisory through these products. */
export function countsOf(
  exposures: Exposures,
  entry: Entry,
  products: readonly string[] = entry.products,
): ByEvidence<number> {
  if (products.length > 1) {
    const { version, product } = domainsOf(exposures, entry, products);
    return { version: version.size, product: product.size };
  }
  // A domain has at most one use of a product.
  const counts = { version: 0, product: 0 };
  for (const { kind, domains } of usesNamedBy(exposures, entry, products)) counts[kind] += domains.size;
  return counts;
}

/** Up to `count` domains that show an affected version. */
export function someAffected(exposures: Exposures, entry: Entry, count: number): readonly number[] {
  const some = new Set<number>();
  for (const { kind, domains } of usesNamedBy(exposures, entry, entry.products))
    if (kind === 'version') for (const domain of domains.first(count - some.size)) some.add(domain);
  return [...some];
}

/** Number of domains with a product that advisories may name, and of those that show a version. */
export function coverageOf(exposures: Exposures) {
  const uses = exposures.advisories.products.map((product) => exposures.usesOf(product));
  const sizeOf = (some: readonly Use[]) => union(some.map(({ domains }) => domains)).size;
  const all = uses.flat();
  return {
    domains: sizeOf(all),
    versioned: sizeOf(all.filter(({ build }) => build.version !== null)),
    products: uses.filter((each) => each.length > 0).length,
  };
}

/** The uses of these products that the advisory possibly affects. */
function* usesNamedBy(exposures: Exposures, { number }: Entry, products: readonly string[]) {
  for (const product of products) {
    for (const { build, domains } of exposures.usesOf(product)) {
      const code = exposures.advisories.verdictsOf(product, build).find(number);
      if (code !== undefined) yield { kind: isAffected(code) ? 'version' : 'product', domains } as const;
    }
  }
}
