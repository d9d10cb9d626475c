// Identifies technologies of a set with providers of the catalog, only where nothing contradicts it: a wrong match
// would
// take over the provider's role, its versions and with them its advisories.
import type { Provider } from '../../rulebook/catalog.ts';
import type { Kind } from '../../rulebook/kinds.ts';
import { type FingerprintTechnology, slugOf } from '../read/fingerprint-set.ts';

/** The reason of the identification: the same name, the same CPE product, or one website and nearly the same name. */
type MergedBy = 'name' | 'product' | 'website';

export interface Merge {
  readonly technology: string;
  /** Provider id. */
  readonly provider: string;
  readonly by: MergedBy;
}

/** Suffixes that do not distinguish products: `Next.js` is `Next`. */
const NOISE = /(?<=.{3})(?:js|com|net|org|io|app|inc|cms)$/;

/** The catalog's providers by name, product and website. Immutable. */
export class KnownProviders {
  readonly #byId: ReadonlyMap<string, Provider>;
  readonly #byName = new Map<string, Provider>();
  readonly #byProduct = new Map<string, Provider>();
  /** Null if several providers or several technologies have the address. */
  readonly #byHome = new Map<string, Provider | null>();

  constructor(catalog: readonly Provider[], technologies: readonly FingerprintTechnology[]) {
    this.#byId = new Map(catalog.map((provider) => [provider.id, provider]));
    for (const provider of catalog) {
      for (const name of [provider.name, ...provider.aliases]) this.#byName.set(nameKey(name), provider);
      for (const product of provider.cpe) this.#byProduct.set(product, provider);
      const home = homeOf(provider);
      if (home !== null) this.#byHome.set(home, this.#byHome.has(home) ? null : provider);
    }
    const homes = new Set<string>();
    for (const home of technologies.map(homeOf)) {
      if (home === null) continue;
      if (homes.has(home)) this.#byHome.set(home, null);
      homes.add(home);
    }
  }

  /** Undefined if the catalog does not have the technology, or the identification is uncertain. */
  find(
    technology: FingerprintTechnology,
    kinds: ReadonlySet<Kind>,
  ): { readonly provider: Provider; readonly by: MergedBy } | undefined {
    const { name, product } = technology;
    const ofProduct = product === null ? undefined : this.#byProduct.get(product);
    if (ofProduct) return { provider: ofProduct, by: 'product' };
    const home = homeOf(technology);
    const named = this.#byName.get(nameKey(name));
    if (named && (hasSameHome(technology, named) || isLikelySame(technology, kinds, named))) {
      return { provider: named, by: 'name' };
    }
    const atHome = home === null ? undefined : this.#byHome.get(home);
    if (!atHome || !isMuchTheSameName(name, atHome) || bringsVersionsOfAnother(technology, atHome)) return undefined;
    return { provider: atHome, by: 'website' };
  }

  /** By name, alias or id. */
  findName(name: string): Provider | undefined {
    return this.#byName.get(nameKey(name)) ?? this.#byId.get(name.toLowerCase());
  }

  get(id: string): Provider | undefined {
    return this.#byId.get(id);
  }
}

/**
 * A match by name without the same address. Two products do not share a name of several words by chance, but may share one
 * word. A single word must therefore have the same domain, or be of one kind and not be software with advisories of its own.
 */
function isLikelySame(technology: FingerprintTechnology, kinds: ReadonlySet<Kind>, provider: Provider): boolean {
  if (bringsVersionsOfAnother(technology, provider)) return false;
  if (technology.slug.includes('-') || isOnOneDomain(technology, provider)) return true;
  return provider.cpe.length === 0 && provider.kinds.some((kind) => kinds.has(kind));
}

/** Its versions would be matched against advisories of a product that it may not be. */
function bringsVersionsOfAnother({ patterns, product }: FingerprintTechnology, { cpe }: Provider): boolean {
  const isVersioned = patterns.some(({ version }) => version !== undefined);
  return isVersioned && cpe.length > 0 && (product === null || !cpe.includes(product));
}

/** Names are equal with or without the vendor's name in front, and without punctuation. */
function isMuchTheSameName(name: string, { id, name: known, aliases, owner }: Provider): boolean {
  const names = [id, known, ...aliases];
  const all = owner === undefined ? names : [...names, ...names.map((each) => `${owner} ${each}`)];
  return all.some((each) => compact(each) === compact(name));
}

function compact(name: string): string {
  return nameKey(name).replaceAll('-', '').replace(NOISE, '');
}

function nameKey(name: string): string {
  return slugOf(name) || name.toLowerCase();
}

interface Homed {
  readonly website: string;
}

/** Host and path: `github.com/someone/something` is not GitHub. */
function homeOf({ website }: Homed): string | null {
  const url = URL.parse(website);
  return url && url.hostname.replace(/^www\./, '') + url.pathname.replace(/\/+$/, '') + url.search;
}

/** The same address, or a page of the site whose home page is the other's. */
function hasSameHome(technology: Homed, provider: Homed): boolean {
  const [a, b] = [homeOf(technology), homeOf(provider)];
  return a !== null && b !== null && (a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`));
}

function isOnOneDomain(technology: Homed, provider: Homed): boolean {
  const [a = '', b = ''] = [homeOf(technology), homeOf(provider)].map((home) => home?.split('/', 1)[0]);
  return a.endsWith(`.${b}`) || b.endsWith(`.${a}`);
}
