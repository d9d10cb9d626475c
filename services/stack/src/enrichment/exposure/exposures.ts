// Matches advisories with the products and versions of domains in the index.
import { type Assessed, type Build, byUrgency, type Entry, ExposureIndex, isAffected } from '@strata/advisories';
import type { DomainIndex, DomainSet } from '@strata/analytics';
import { productKeysOf, type Rulebook } from '@strata/detect';
import type { AdvisoryChange } from '../../events.ts';
import { sleep } from '../../sleep.ts';
import type { Store } from '../../store/index.ts';
import { EventLoopBudget } from '../event-loop-budget.ts';
import type { SourceName } from '../source.ts';
import { buildsShown, type ObservedService, servicesShown, type Use, unionOf, usesOf } from './product-uses.ts';

export interface ExposureDeps {
  readonly store: Store;
  readonly index: DomainIndex;
  readonly rulebook: Rulebook;
}

/** Domains by evidence: `version` shows an affected version; `product` only uses the product. */
export interface ExposedDomains {
  readonly version: DomainSet;
  readonly product: DomainSet;
}

export interface ExposedCounts {
  readonly version: number;
  readonly product: number;
}

/** One advisory for one build of one product. */
export interface Exposure {
  readonly entry: Entry;
  readonly product: string;
  readonly build: Build;
  readonly isAffected: boolean;
}

/** Sources of vulnerabilities; the remaining sources only add to their entries. */
const VULNERABILITY_SOURCES: ReadonlySet<string> = new Set<SourceName>(['nvd', 'osv', 'cve', 'folder']);
const CHANGES_AT_ONCE = 500;
const LOADED_AT_ONCE = 100;
const OPEN_WAIT_MS = 2_000;

export class Exposures implements AsyncDisposable {
  readonly #deps: ExposureDeps;
  readonly advisories: ExposureIndex;
  /** Computed on demand; dropped when a domain with the product changes. */
  readonly #uses = new Map<string, readonly Use[]>();
  #seq: number;
  #isKnown = false;
  #isLoaded = false;
  #isStopped = false;
  #loading: Promise<void> = Promise.resolve();
  #failure: unknown;

  private constructor(deps: ExposureDeps, advisories: ExposureIndex, seq: number) {
    this.#deps = deps;
    this.advisories = advisories;
    this.#seq = seq;
  }

  /** Reads the advisories of every product in the rulebook. The index must be up to date with the store. */
  static async open(deps: ExposureDeps): Promise<Exposures> {
    const { store, rulebook } = deps;
    const products = [...rulebook.providers.values()]
      .map((provider) => ({ id: provider.id, keys: productKeysOf(provider), releaseParts: provider.releaseParts }))
      .filter(({ keys }) => keys.length > 0);
    const advisories = new ExposureIndex(products);
    const exposures = new Exposures(deps, advisories, await store.advisories.latestChange());
    exposures.readBuilds();
    exposures.#loading = exposures.#load(await store.advisories.naming(advisories.keys)).catch((error: unknown) => {
      exposures.#failure = error;
    });
    // A few thousand take a second; the start does not wait for a quarter of a million.
    const waiting = new AbortController();
    await Promise.race([exposures.#loading, sleep(OPEN_WAIT_MS, waiting.signal)]);
    waiting.abort();
    await exposures.learn();
    return exposures;
  }

  /** Whether all advisories are loaded; until then lists are incomplete. Throws if loading failed. */
  get isLoaded(): boolean {
    if (this.#failure !== undefined) throw new Error('read the advisories', { cause: this.#failure });
    return this.#isLoaded;
  }

  async #load(ids: readonly string[]): Promise<void> {
    const budget = new EventLoopBudget();
    for (let from = 0; from < ids.length && !this.#isStopped; from += LOADED_AT_ONCE) {
      for (const stored of await this.#deps.store.advisories.read(ids.slice(from, from + LOADED_AT_ONCE))) {
        this.advisories.put(stored);
        await budget.yieldIfSpent();
      }
    }
    this.#isLoaded = !this.#isStopped;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    await this.#loading;
  }

  /** Whether a source of vulnerabilities was synced completely and all advisories are loaded; until then the status of domains is unknown. */
  get isKnown(): boolean {
    return this.#isKnown && this.isLoaded;
  }

  /** Checks whether `isKnown` has become true; returns true if it just did. */
  async learn(): Promise<boolean> {
    if (this.#isKnown || !this.isLoaded) return false;
    const sources = await this.#deps.store.sources.list(this.#deps.store.clock());
    const isRead = sources.some(({ name, finishedAt }) => finishedAt !== null && VULNERABILITY_SOURCES.has(name));
    // A folder may contain no advisories.
    this.#isKnown = isRead && !(await this.#deps.store.advisories.isEmpty());
    return this.#isKnown;
  }

  /** Drops cached uses of providers after a change of their domains. */
  touch(providers: Iterable<string>): void {
    for (const provider of providers) this.#uses.delete(provider);
  }

  /** Reads all builds of the index, after a rebuild. */
  readBuilds(): void {
    this.#uses.clear();
    for (const id of this.#deps.rulebook.providers.keys())
      for (const { version, platform } of this.#deps.index.buildsOf(id))
        this.advisories.addBuild(id, { version, platform });
  }

  /** Adds builds that are new in the index. */
  addBuilds(builds: readonly (Build & { readonly provider: string })[]): void {
    for (const { provider, version, platform } of builds) this.advisories.addBuild(provider, { version, platform });
  }

  /** Applies changes in the store since the last call. A change whose consumer fails is repeated by the next call. */
  async *changes(): AsyncGenerator<AdvisoryChange, void> {
    const { store } = this.#deps;
    if (!this.isLoaded) return;
    const budget = new EventLoopBudget();
    for (;;) {
      const changes = await store.advisories.changesSince(this.#seq, CHANGES_AT_ONCE);
      const last = changes.at(-1);
      if (!last) return;
      const stored = await store.advisories.read(changes.map(({ advisoryId }) => advisoryId));
      const removed = new Set(changes.map(({ advisoryId }) => advisoryId));
      const products = new Set<string>();
      const entries: Entry[] = [];
      for (const each of stored) {
        for (const product of this.#put(each, entries)) products.add(product);
        removed.delete(each.advisory.id);
        await budget.yieldIfSpent();
      }
      for (const id of removed) for (const product of this.advisories.delete(id)) products.add(product);
      yield { products, entries };
      this.#seq = last.seq;
      if (changes.length < CHANGES_AT_ONCE) return;
    }
  }

  /** The uses of a product by domains, per build. */
  usesOf(product: string): readonly Use[] {
    let uses = this.#uses.get(product);
    if (!uses) {
      uses = usesOf(this.#deps.index, product);
      this.#uses.set(product, uses);
    }
    return uses;
  }

  /** Domains possibly affected by an advisory through these products; one that shows an affected version is only in `version`. */
  domainsOf(entry: Entry, products: readonly string[] = entry.products): ExposedDomains {
    const sets = { version: [] as DomainSet[], product: [] as DomainSet[] };
    for (const id of products) {
      for (const { build, domains } of this.usesOf(id)) {
        const code = this.advisories.verdictOn(entry, id, build);
        if (code !== undefined) sets[isAffected(code) ? 'version' : 'product'].push(domains);
      }
    }
    const { limit } = this.#deps.index.names;
    const version = unionOf(sets.version, limit);
    const product = unionOf(sets.product, limit);
    return { version, product: version.size === 0 ? product : product.andNot(version) };
  }

  /** Up to `count` domains that show an affected version. */
  someAffected(entry: Entry, count: number): readonly number[] {
    const some = new Set<number>();
    for (const product of entry.products) {
      for (const { build, domains } of this.usesOf(product)) {
        if (some.size >= count) return [...some];
        const code = this.advisories.verdictOn(entry, product, build);
        if (code === undefined || !isAffected(code)) continue;
        for (const domain of domains.first(count - some.size)) some.add(domain);
      }
    }
    return [...some];
  }

  /** Number of domains possibly affected by an advisory through these products. */
  countsOf(entry: Entry, products: readonly string[] = entry.products): ExposedCounts {
    if (products.length > 1) {
      const { version, product } = this.domainsOf(entry, products);
      return { version: version.size, product: product.size };
    }
    // A domain has at most one use of a product.
    const counts = { version: 0, product: 0 };
    for (const id of products) {
      for (const { build, domains } of this.usesOf(id)) {
        const code = this.advisories.verdictOn(entry, id, build);
        if (code !== undefined) counts[isAffected(code) ? 'version' : 'product'] += domains.size;
      }
    }
    return counts;
  }

  /** Exposures of one domain by its services in the index, most urgent first. */
  ofDomain(domain: number): readonly Exposure[] {
    return this.ofServices(servicesShown(this.#deps.index, domain));
  }

  /** Exposures of a domain with these services, most urgent first. */
  ofServices(services: readonly ObservedService[]): readonly Exposure[] {
    const found = [...buildsShown(services)].flatMap(([product, build]) => {
      this.advisories.addBuild(product, build);
      return this.#exposuresOf(product, build);
    });
    return found.sort((a, b) => byUrgency(a.entry, b.entry));
  }

  /** Exposures of a product's users, each advisory once, most urgent first; affected if any domain is. */
  ofProduct(product: string): readonly Exposure[] {
    const byEntry = new Map<Entry, Exposure>();
    for (const { build } of this.usesOf(product)) {
      for (const exposure of this.#exposuresOf(product, build)) {
        if (exposure.isAffected || !byEntry.has(exposure.entry)) byEntry.set(exposure.entry, exposure);
      }
    }
    return [...byEntry.values()].sort((a, b) => byUrgency(a.entry, b.entry));
  }

  /** Number of domains with a product that advisories may name, and of those that show a version. */
  coverage(): { readonly domains: number; readonly versioned: number; readonly products: number } {
    const uses = this.advisories.products.map((product) => this.usesOf(product));
    const { limit } = this.#deps.index.names;
    const shown = uses.flat().filter((use) => use.build.version !== null);
    const all = (each: readonly Use[]) =>
      unionOf(
        each.map(({ domains }) => domains),
        limit,
      );
    const [domains, versioned] = [all(uses.flat()), all(shown)];
    const products = uses.filter((each) => each.length > 0).length;
    return { domains: domains.size, versioned: versioned.size, products };
  }

  #put(stored: Assessed, entries: Entry[]): readonly string[] {
    const products = this.advisories.put(stored);
    const entry = this.advisories.find(stored.advisory.id);
    if (entry) entries.push(entry);
    return products;
  }

  #exposuresOf(product: string, build: Build): Exposure[] {
    const verdicts = this.advisories.verdictsOf(product, build);
    const found: Exposure[] = [];
    for (let position = 0; position < verdicts.length; position += 1) {
      const entry = this.advisories.entryAt(verdicts.numberAt(position));
      if (entry) found.push({ entry, product, build, isAffected: isAffected(verdicts.codeAt(position)) });
    }
    return found;
  }
}
