// One provider has one id: which technologies of a set the catalog knows, and what the others are.
import type { Provider } from '../catalog.ts';
import type { Kind } from '../kinds.ts';
import { type CategoryNames, setCategoryOf } from './categories.ts';
import { catalogParts, type SetProvider } from './channels.ts';
import type { FingerprintSet, FingerprintTechnology } from './fingerprint-set.ts';

/** As the catalog's schema has it. */
const MAX_KINDS = 4;

/** Providers by technology, in the order of the set, and how many of them the catalog already had. */
export interface SetProviders {
  readonly of: readonly SetProvider[];
  /** Those that are not in the catalog. */
  readonly added: readonly Provider[];
  readonly merged: number;
  readonly names: KnownNames;
}

/** How technologies call each other, and the catalog's own names. */
export interface KnownNames {
  /** The provider's id; null for a name that neither knows, which is kept in `unresolved`. */
  idOf(name: string): string | null;
  readonly unresolved: ReadonlySet<string>;
  /** A provider of the catalog that no technology may be. */
  inCatalog(id: string): SetProvider | undefined;
}

/** Finds each technology's provider in the catalog, by id, name, alias, product or the host of its website, or makes one. */
export function providersOf(
  { technologies, categoryNames }: FingerprintSet,
  catalog: readonly Provider[],
): SetProviders {
  const known = new KnownProviders(catalog);
  const added = new Map<string, Provider>();
  let merged = 0;
  const of = technologies.map((technology) => {
    const found = known.find(technology);
    if (found) merged += 1;
    const provider = found ?? added.get(technology.slug) ?? createProvider(technology, categoryNames, known);
    if (!found) added.set(provider.id, provider);
    return { provider, ...countsAs(technology, categoryNames), ...catalogParts(provider) };
  });
  const ids = new Map(technologies.map(({ name }, i) => [name.toLowerCase(), of[i]?.provider.id ?? '']));
  return { of, added: [...added.values()], merged, names: namesOf(ids, known) };
}

function namesOf(ids: ReadonlyMap<string, string>, known: KnownProviders): KnownNames {
  const unresolved = new Set<string>();
  const idOf = (name: string) => {
    const id = ids.get(name.toLowerCase()) ?? known.findName(name)?.id;
    if (id === undefined) unresolved.add(name);
    return id ?? null;
  };
  const inCatalog = (id: string): SetProvider | undefined => {
    const provider = known.findName(id);
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

function createProvider(
  { name, slug, website, product, categories }: FingerprintTechnology,
  names: CategoryNames,
  known: KnownProviders,
): Provider {
  const kinds = new Set<Kind>(categories.flatMap((id) => setCategoryOf(id, names)?.kinds ?? []));
  return {
    id: slug,
    name,
    aliases: [],
    website,
    kinds: [...kinds].slice(0, MAX_KINDS),
    cpe: product !== null && known.takeProduct(product) ? [product] : [],
    packages: [],
    cna: [],
    rules: [],
  };
}

class KnownProviders {
  readonly #byName = new Map<string, Provider>();
  readonly #byProduct = new Map<string, Provider>();
  /** Null where several providers have the host. */
  readonly #byHost = new Map<string, Provider | null>();
  readonly #taken = new Set<string>();

  constructor(catalog: readonly Provider[]) {
    for (const provider of catalog) {
      for (const name of [provider.id, provider.name, ...provider.aliases]) {
        this.#byName.set(name.toLowerCase(), provider);
      }
      for (const product of provider.cpe) this.#byProduct.set(product, provider);
      const host = homeOf(provider.website);
      if (host !== null) this.#byHost.set(host, this.#byHost.has(host) ? null : provider);
    }
  }

  find({ name, slug, product, website }: FingerprintTechnology): Provider | undefined {
    const host = homeOf(website);
    return (
      this.findName(name) ??
      this.findName(slug) ??
      (product === null ? undefined : this.#byProduct.get(product)) ??
      (host === null ? undefined : (this.#byHost.get(host) ?? undefined))
    );
  }

  /** By id, name or alias. */
  findName(name: string): Provider | undefined {
    return this.#byName.get(name.toLowerCase());
  }

  /** One product is one provider: with two, an advisory would speak of both. */
  takeProduct(product: string): boolean {
    if (this.#taken.has(product)) return false;
    this.#taken.add(product);
    return true;
  }
}

/** The host of a site's start page; null for an address below it: `github.com/someone/something` is not GitHub. */
function homeOf(website: string): string | null {
  const url = URL.parse(website);
  if (url?.pathname !== '/' || url.search !== '') return null;
  return url.hostname.replace(/^www\./, '');
}
