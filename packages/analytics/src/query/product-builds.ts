// The builds of products that domains show: each domain that uses a product with more than low confidence shows one build of it.

import { LEVELS } from '../columns/terms.ts';
import { compareText } from '../compare-text.ts';
import type { DomainIndex } from '../index/domain-index.ts';
import type { DomainSet } from '../sets/domain-set.ts';
import { difference, union } from '../sets/set-operations.ts';

/** A version of a product with its platform; null: none was observed. A build without a version has no platform. */
export interface ProductBuild {
  readonly product: string;
  readonly version: string | null;
  readonly platform: string | null;
}

export interface BuildCount extends ProductBuild {
  readonly domains: number;
  /** The domains with the lowest numbers, at most `MAX_FIRST`. */
  readonly first: readonly number[];
}

export const MAX_FIRST = 10;
const LOW = LEVELS.indexOf('low');

/** Builds with domains of these products, in order. */
export function productBuilds(index: DomainIndex, products: readonly string[]): BuildCount[] {
  return products
    .flatMap((product) => [...versionsOf(index, product), withoutVersion(index, product)])
    .map(({ domains, ...build }) => ({ ...build, domains: domains.size, first: domains.first(MAX_FIRST) }))
    .filter(({ domains }) => domains > 0)
    .sort(inOrder);
}

/** By product and version, those without a version last. */
export function inOrder(a: ProductBuild, b: ProductBuild): number {
  return (
    compareText(a.product, b.product) ||
    Number(a.version === null) - Number(b.version === null) ||
    compareText(a.version ?? '', b.version ?? '') ||
    Number(a.platform !== null) - Number(b.platform !== null) ||
    compareText(a.platform ?? '', b.platform ?? '')
  );
}

/** The domains that show one of these builds. */
export function domainsShowing(index: DomainIndex, builds: readonly ProductBuild[]): DomainSet {
  const keyOf = ({ version, platform }: ProductBuild) => `${version}\n${platform}`;
  const sets = [...Map.groupBy(builds, ({ product }) => product)].flatMap(([product, some]) => {
    const wanted = new Set(some.map(keyOf));
    const versions = versionsOf(index, product).filter((each) => wanted.has(keyOf(each)));
    return some.some(({ version }) => version === null) ? [...versions, withoutVersion(index, product)] : versions;
  });
  return union(sets.map(({ domains }) => domains));
}

type Shown = ProductBuild & { readonly domains: DomainSet };

function versionsOf(index: DomainIndex, product: string): Shown[] {
  return index.buildsOf(product).map((each) => ({ product, ...each }));
}

function withoutVersion(index: DomainIndex, product: string): Shown {
  const shown = union(index.buildsOf(product).map(({ domains }) => domains));
  return { product, version: null, platform: null, domains: difference(firmUsers(index, product), shown) };
}

/** Domains that use a provider with more than low confidence. */
function firmUsers({ vocabulary, sets }: DomainIndex, provider: string): DomainSet {
  const number = vocabulary.providers.find(provider);
  const placements = number === undefined ? [] : vocabulary.placementsOf(number);
  return union(placements.map((each) => difference(sets.placement(each.number), sets.placement(each.number, LOW))));
}

/** The versions that a domain shows, by product. */
export function buildsIn({ builds, columns, vocabulary }: DomainIndex, id: number): ProductBuild[] {
  const { pool, from, to } = columns.buildsIn(id);
  return Array.from(pool.subarray(from, to), (number) => {
    const [provider, version, platform] = builds.word(number);
    return { product: vocabulary.providers.word(provider), version, platform };
  }).sort(inOrder);
}
