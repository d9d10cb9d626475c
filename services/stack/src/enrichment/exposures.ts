// Which domains are exposed to which advisories: the advisories judged against what the index says that domains show.
import { type Assessed, type Build, byUrgency, type Entry, ExposureIndex, isAffected, type Severity } from '@strata/advisories';
import { type DomainIndex, DomainSet, LEVELS } from '@strata/analytics';
import { productKeysOf, type Rulebook } from '@strata/detect';
import type { Store } from '@strata/store';

export interface ExposureParts {
  readonly store: Store;
  readonly index: DomainIndex;
  readonly rulebook: Rulebook;
}

/** Domains by what is known of them: that they show a version in range, or that they use the product, no more. */
export interface ExposedDomains {
  readonly version: DomainSet;
  readonly product: DomainSet;
}

/** One advisory on one product of one domain. */
export interface DomainExposure {
  readonly entry: Entry;
  readonly product: string;
  readonly build: Build;
  readonly isAffected: boolean;
}

export interface ExposureFilter {
  readonly severity?: Severity | undefined;
}

const CHANGES_AT_ONCE = 500;
const NO_VERSION: Build = { version: null, platform: null };
const LOW = LEVELS.indexOf('low');

export class Exposures {
  readonly #parts: ExposureParts;
  readonly #advisories: ExposureIndex;
  /** Put together when somebody asks; forgotten when a domain that uses the product has changed. */
  readonly #uses = new Map<string, readonly Use[]>();
  #seq: number;

  private constructor(parts: ExposureParts, advisories: ExposureIndex, seq: number) {
    this.#parts = parts;
    this.#advisories = advisories;
    this.#seq = seq;
  }

  /** Reads the advisories of every product that the rulebook knows. The index must be up to date with the store. */
  static async open(parts: ExposureParts): Promise<Exposures> {
    const { store, index, rulebook } = parts;
    const products = [...rulebook.providers.values()]
      .map((provider) => ({ id: provider.id, keys: productKeysOf(provider) }))
      .filter(({ keys }) => keys.length > 0);
    const advisories = new ExposureIndex(products);
    for (const { id } of products) {
      for (const { version, platform } of index.buildsOf(id)) advisories.addBuild(id, { version, platform });
    }
    const exposures = new Exposures(parts, advisories, await store.advisories.latestChange());
    const ids = await store.advisories.naming(advisories.keys);
    for (let from = 0; from < ids.length; from += CHANGES_AT_ONCE) {
      for (const stored of await store.advisories.read(ids.slice(from, from + CHANGES_AT_ONCE))) advisories.put(stored);
    }
    return exposures;
  }

  /** Advisories that name a product that the rulebook knows. */
  get size(): number {
    return this.#advisories.size;
  }

  get products(): readonly string[] {
    return this.#advisories.products;
  }

  find(id: string): Entry | undefined {
    return this.#advisories.find(id);
  }

  /** Domains that use these, or did, have changed. */
  touch(providers: Iterable<string>): void {
    for (const provider of providers) this.#uses.delete(provider);
  }

  /** Builds that the index has met for the first time. */
  addBuilds(builds: readonly (Build & { readonly provider: string })[]): void {
    for (const { provider, version, platform } of builds) this.#advisories.addBuild(provider, { version, platform });
  }

  /** Takes in what has changed; hands out each bite's products, and the entries that are now as they are. */
  async follow(onChanged: (change: FollowedChange) => Promise<void>): Promise<void> {
    const { store } = this.#parts;
    for (;;) {
      const changes = await store.advisories.changesSince(this.#seq, CHANGES_AT_ONCE);
      const last = changes.at(-1);
      if (!last) return;
      const stored = await store.advisories.read(changes.map(({ advisoryId }) => advisoryId));
      const products = new Set<string>();
      const entries: Entry[] = [];
      for (const each of stored) for (const product of this.#put(each, entries)) products.add(product);
      const there = new Set(stored.map(({ advisory }) => advisory.id));
      for (const { advisoryId } of changes) {
        if (!there.has(advisoryId)) for (const product of this.#advisories.delete(advisoryId)) products.add(product);
      }
      await onChanged({ products, entries });
      this.#seq = last.seq;
      if (changes.length < CHANGES_AT_ONCE) return;
    }
  }

  /** Domains that an advisory concerns; a domain that shows a version in range is not among the others. */
  domainsOf(entry: Entry, products: readonly string[] = entry.products): ExposedDomains {
    const version = new SetUnion();
    const product = new SetUnion();
    for (const id of products) {
      for (const { build, domains } of this.#usesOf(id)) {
        const code = this.#advisories.verdictOn(entry, id, build);
        if (code !== undefined) (isAffected(code) ? version : product).add(domains);
      }
    }
    const affected = version.set;
    return { version: affected, product: affected.size === 0 ? product.set : product.set.andNot(affected) };
  }

  /** Advisories that concern any domain, the most urgent first, and how many there are. */
  list({ severity }: ExposureFilter, limit: number): { readonly total: number; readonly entries: readonly Entry[] } {
    const concerned = this.#concerned();
    const entries: Entry[] = [];
    let total = 0;
    for (const entry of this.#advisories.inOrder()) {
      if (concerned[entry.number] !== 1 || (severity && entry.advisory.severity !== severity)) continue;
      total += 1;
      if (entries.length < limit) entries.push(entry);
    }
    return { total, entries };
  }

  /** What concerns one domain, the most urgent first; of equally urgent ones those that show an affected version. */
  ofDomain(domain: number, { severity }: ExposureFilter = {}): readonly DomainExposure[] {
    const { index } = this.#parts;
    const found: DomainExposure[] = [];
    const firm = new Set(
      index.services(domain).flatMap(([, provider, confidence]) => (confidence === 'low' ? [] : [provider])),
    );
    for (const product of firm) {
      const build = index.buildOf(domain, product) ?? NO_VERSION;
      this.#each(product, build, (entry, isAffected) => {
        if (!severity || entry.advisory.severity === severity) found.push({ entry, product, build, isAffected });
      });
    }
    return found.sort((a, b) => byUrgency(a.entry, b.entry));
  }

  /** Advisories that concern users of a product, the most urgent first; of how many of them a domain shows an affected version. */
  ofProduct(product: string): { readonly entries: readonly Entry[]; readonly version: number } {
    const marks = new Map<Entry, boolean>();
    for (const { build } of this.#usesOf(product)) {
      this.#each(product, build, (entry, isAffected) => marks.set(entry, isAffected || marks.get(entry) === true));
    }
    const version = [...marks.values()].filter(Boolean).length;
    return { entries: [...marks.keys()].sort(byUrgency), version };
  }

  judgementOf(entry: Entry, product: string, build: Build) {
    return this.#advisories.judgementOf(entry, product, build);
  }

  /** Domains that use a product which advisories may name, and those of them that show its version. */
  coverage(): { readonly domains: number; readonly versioned: number; readonly products: number } {
    const domains = new SetUnion();
    const versioned = new SetUnion();
    let products = 0;
    for (const id of this.products) {
      const uses = this.#usesOf(id);
      if (uses.length > 0) products += 1;
      for (const { build, domains: set } of uses) {
        domains.add(set);
        if (build.version !== null) versioned.add(set);
      }
    }
    return { domains: domains.set.size, versioned: versioned.set.size, products };
  }

  #put(stored: Assessed, entries: Entry[]): readonly string[] {
    const products = this.#advisories.put(stored);
    const entry = this.#advisories.find(stored.advisory.id);
    if (entry) entries.push(entry);
    return products;
  }

  /** By number of the advisory, 1 where some domain shows a build that it concerns. */
  #concerned(): Uint8Array {
    const marks = new Uint8Array(this.#advisories.limit);
    for (const id of this.products) {
      for (const { build } of this.#usesOf(id)) {
        const verdicts = this.#advisories.verdictsOf(id, build);
        for (let place = 0; place < verdicts.length; place += 1) marks[verdicts.numberAt(place)] = 1;
      }
    }
    return marks;
  }

  #each(product: string, build: Build, tell: (entry: Entry, isAffected: boolean) => void): void {
    const verdicts = this.#advisories.verdictsOf(product, build);
    for (let place = 0; place < verdicts.length; place += 1) {
      const entry = this.#advisories.entryAt(verdicts.numberAt(place));
      if (entry) tell(entry, isAffected(verdicts.codeAt(place)));
    }
  }

  /** What domains show of a product, each with its domains; those that show no version last. */
  #usesOf(product: string): readonly Use[] {
    let uses = this.#uses.get(product);
    if (!uses) {
      uses = usesOf(this.#parts.index, product);
      this.#uses.set(product, uses);
    }
    return uses;
  }
}

export interface FollowedChange {
  /** Whose answers are stale. */
  readonly products: ReadonlySet<string>;
  readonly entries: readonly Entry[];
}

/** What some domains show of a product. */
interface Use {
  readonly build: Build;
  readonly domains: DomainSet;
}

function usesOf(index: DomainIndex, product: string): readonly Use[] {
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
  return sets.reduce((union, set) => (union.size === 0 ? set : union.or(set)), new DomainSet());
}

/** Sets joined; a single one is not copied. */
class SetUnion {
  #set = new DomainSet();

  get set(): DomainSet {
    return this.#set;
  }

  add(set: DomainSet): void {
    this.#set = this.#set.size === 0 ? set : set.size === 0 ? this.#set : this.#set.or(set);
  }
}
