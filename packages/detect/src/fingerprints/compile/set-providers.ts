// Assigns one id to each provider: which technologies of a set are in the catalog, and providers for the remaining
// ones.
import type { Provider } from '../../rulebook/catalog.ts';
import type { Kind } from '../../rulebook/kinds.ts';
import { type CategoryNames, setCategoryOf } from '../read/categories.ts';
import type { FingerprintSet, FingerprintTechnology } from '../read/fingerprint-set.ts';
import { catalogParts, type SetProvider } from './channels.ts';
import { KnownProviders, type Merge } from './known-providers.ts';

/** The limit of the catalog's schema. */
const MAX_KINDS = 4;

/** Suffix of an id that belongs to a different provider of the catalog. */
const NAMESAKE = '-community';

/** Providers by technology, in the order of the set. */
interface SetProviders {
  readonly of: readonly SetProvider[];
  /** Providers that are not in the catalog. */
  readonly added: readonly Provider[];
  readonly merges: readonly Merge[];
  readonly names: KnownNames;
}

/** Resolves the names with which technologies refer to each other, including the catalog's names. */
export interface KnownNames {
  /** The provider's id; null for an unknown name, which is added to `unresolved`. */
  idOf(name: string): string | null;
  readonly unresolved: ReadonlySet<string>;
  /** A provider of the catalog that is not identified with any technology. */
  inCatalog(id: string): SetProvider | undefined;
}

/** Finds each technology's provider in the catalog, or creates one. */
export function providersOf(
  { technologies, categoryNames }: FingerprintSet,
  catalog: readonly Provider[],
): SetProviders {
  const known = new KnownProviders(catalog, technologies);
  const added = new Map<string, Provider>();
  const merges: Merge[] = [];
  const products = new Set<string>();
  const of = technologies.map((technology) => {
    const kinds = kindsOf(technology, categoryNames);
    const found = known.find(technology, kinds);
    const id = known.get(technology.slug) ? `${technology.slug}${NAMESAKE}` : technology.slug;
    const provider = found?.provider ?? added.get(id) ?? createProvider({ ...technology, id, kinds }, products);
    if (found) merges.push({ technology: technology.name, provider: provider.id, by: found.by });
    else added.set(provider.id, provider);
    return { provider, ...countsAs(technology, categoryNames), ...catalogParts(provider) };
  });
  const ids = new Map(technologies.map(({ name }, i) => [name.toLowerCase(), of[i]?.provider.id ?? '']));
  return { of, added: [...added.values()], merges, names: namesOf(ids, known) };
}

function namesOf(ids: ReadonlyMap<string, string>, known: KnownProviders): KnownNames {
  const unresolved = new Set<string>();
  const idOf = (name: string) => {
    const id = ids.get(name.toLowerCase()) ?? known.findName(name)?.id;
    if (id === undefined) unresolved.add(name);
    return id ?? null;
  };
  const inCatalog = (id: string): SetProvider | undefined => {
    const provider = known.get(id);
    return provider && { provider, category: 'web_platform', isMailSecurity: false, ...catalogParts(provider) };
  };
  return { idOf, unresolved, inCatalog };
}

function countsAs(
  { categories }: FingerprintTechnology,
  names: CategoryNames,
): Pick<SetProvider, 'category' | 'isMailSecurity'> {
  const found = categories.flatMap((id) => setCategoryOf(id, names) ?? []);
  return {
    category: found.find(({ category }) => category !== 'web_platform')?.category ?? 'web_platform',
    isMailSecurity: found.some(({ kinds }) => kinds.includes('security')),
  };
}

function kindsOf({ categories }: FingerprintTechnology, names: CategoryNames): ReadonlySet<Kind> {
  return new Set(categories.flatMap((id) => setCategoryOf(id, names)?.kinds ?? []));
}

function createProvider(
  {
    name,
    id,
    website,
    product,
    kinds,
  }: FingerprintTechnology & { readonly id: string; readonly kinds: ReadonlySet<Kind> },
  products: Set<string>,
): Provider {
  // One product belongs to one provider; otherwise an advisory would name two.
  const isItsOwn = product !== null && !products.has(product);
  if (isItsOwn) products.add(product);
  return {
    id,
    name,
    aliases: [],
    website,
    kinds: [...kinds].slice(0, MAX_KINDS),
    cpe: isItsOwn ? [product] : [],
    packages: [],
    cna: [],
    rules: [],
  };
}
