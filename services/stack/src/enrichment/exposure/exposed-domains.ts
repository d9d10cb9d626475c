// The domains that an advisory possibly affects, by the evidence.
import { type Entry, isAffected } from '@strata/advisories';
import type { Analytics, BuildCount, ProductBuild } from '@strata/analytics';
import type { Exposures, Uses } from './exposures.ts';

/** `version`: domains that show an affected version; `product`: further domains that only use the product. */
export type ByEvidence<Value> = Readonly<Record<'version' | 'product', Value>>;

export interface ExposedDeps {
  readonly exposures: Exposures;
  readonly analytics: Analytics;
}

/** The builds of these products that the advisory possibly affects; a domain shows at most one build of a product. */
export function buildsNamedBy(
  { advisories }: Pick<Exposures, 'advisories'>,
  { number, products: all }: Pick<Entry, 'number' | 'products'>,
  uses: Uses,
  products: readonly string[] = all,
): ByEvidence<readonly BuildCount[]> {
  const builds = { version: [] as BuildCount[], product: [] as BuildCount[] };
  for (const product of products)
    for (const build of uses.get(product) ?? []) {
      const code = advisories.verdictsOf(product, build).find(number);
      if (code !== undefined) builds[isAffected(code) ? 'version' : 'product'].push(build);
    }
  return builds;
}

/** Number of domains possibly affected by an advisory through all its products; one that shows an affected version is only in `version`. */
export async function countsOf(deps: ExposedDeps, entry: Entry): Promise<ByEvidence<number>> {
  const builds = buildsNamedBy(deps.exposures, entry, await deps.exposures.uses(entry.products));
  return countsIn(deps, builds);
}

/** Numbers of domains that show one of these builds. */
export async function countsIn(
  { analytics }: Pick<ExposedDeps, 'analytics'>,
  { version, product }: ByEvidence<readonly BuildCount[]>,
): Promise<ByEvidence<number>> {
  const affected = await sizeOf(analytics, version);
  return { version: affected, product: (await sizeOf(analytics, [...version, ...product])) - affected };
}

/** Number of domains that show one of these builds. */
async function sizeOf(analytics: Analytics, builds: readonly BuildCount[]): Promise<number> {
  // A domain has at most one build of a product.
  if (new Set(builds.map(({ product }) => product)).size <= 1) return sumOf(builds);
  return (await analytics.search({ filter: { builds }, limit: 0, offset: 0 })).total;
}

export const sumOf = (builds: readonly BuildCount[]): number => builds.reduce((sum, { domains }) => sum + domains, 0);

/** Number of domains with a product that advisories may name, and of those that show a version. */
export async function coverageOf({ exposures, analytics }: ExposedDeps) {
  const uses = await exposures.uses();
  const all = [...uses.values()].flat();
  const sizeOf = async (builds: readonly ProductBuild[]) =>
    (await analytics.search({ filter: { builds }, limit: 0, offset: 0 })).total;
  return {
    domains: await sizeOf(all),
    versioned: await sizeOf(all.filter(({ version }) => version !== null)),
    products: [...uses.values()].filter((each) => each.length > 0).length,
  };
}
