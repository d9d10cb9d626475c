// Which provider of the catalog a technology of a set is: only where nothing speaks against it, for one that is taken for
// another takes over its role, its versions and with them its advisories.
import type { Provider } from '../../rulebook/catalog.ts';
import type { Kind } from '../../rulebook/kinds.ts';
import { type FingerprintTechnology, slugOf } from '../read/fingerprint-set.ts';

/** What told that a technology is a provider: the same name, the same CPE product, or one website and much the same name. */
export type MergedBy = 'name' | 'product' | 'website';

export interface Merge {
  readonly technology: string;
  /** Provider id. */
  readonly provider: string;
  readonly by: MergedBy;
}

/** Endings that tell no two products apart: `Next.js` is `Next`. */
const NOISE = /(?<=.{3})(?:js|com|net|org|io|app|inc|cms)$/;

/** The catalog's providers by what a set may say of them. Immutable once made. */
export class KnownProviders {
  readonly #byId: ReadonlyMap<string, Provider>;
  readonly #byName = new Map<string, Provider>();
  readonly #byProduct = new Map<string, Provider>();
  /** Null where several providers have the address, or several technologies. */
  readonly #byHome = new Map<string, Provider | null>();

  constructor(catalog: readonly Provider[], technologies: readonly FingerprintTechnology[]) {
    this.#byId = new Map(catalog.map((provider) => [provider.id, provider]));
    for (const provider of catalog) {
      for (const name of [provider.name, ...provider.aliases]) this.#byName.set(nameKey(name), provider);
      for (const product of provider.cpe) this.#byProduct.set(product, provider);
      const home = homeOf(provider);
      if (home !== null) this.#byHome.set(home, this.#byHome.has(home) ? null : provider);
    }
    const seen = new Set<string>();
    for (const home of technologies.map(homeOf)) {
      if (home === null) continue;
      if (seen.has(home)) this.#byHome.set(home, null);
      seen.add(home);
    }
  }

  /** Undefined for a technology that the catalog does not have, or not for certain. */
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
 * Not at the same address: no two have a name of several words by chance, but of one word many. Those must live on one
 * domain, or be of one kind and no software with advisories of its own.
 */
function isLikelySame(technology: FingerprintTechnology, kinds: ReadonlySet<Kind>, provider: Provider): boolean {
  if (bringsVersionsOfAnother(technology, provider)) return false;
  if (technology.slug.includes('-') || isOnOneDomain(technology, provider)) return true;
  return provider.cpe.length === 0 && provider.kinds.some((kind) => kinds.has(kind));
}

/** Its versions would be judged by advisories of a product that it may not be. */
function bringsVersionsOfAnother({ patterns, product }: FingerprintTechnology, { cpe }: Provider): boolean {
  const isVersioned = patterns.some(({ version }) => version !== undefined);
  return isVersioned && cpe.length > 0 && (product === null || !cpe.includes(product));
}

/** The maker's name may stand before the product's or not, and punctuation between. */
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

/** One address, or a page of the site whose start page is the other's. */
function hasSameHome(technology: Homed, provider: Homed): boolean {
  const [a, b] = [homeOf(technology), homeOf(provider)];
  return a !== null && b !== null && (a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`));
}

function isOnOneDomain(technology: Homed, provider: Homed): boolean {
  const [a = '', b = ''] = [homeOf(technology), homeOf(provider)].map((home) => home?.split('/', 1)[0]);
  return a.endsWith(`.${b}`) || b.endsWith(`.${a}`);
}
