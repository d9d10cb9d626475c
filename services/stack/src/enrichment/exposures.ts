// Which domains are exposed to which advisories: the advisories judged against what the index says that domains show.
import { type Assessed, type Build, byUrgency, type Entry, ExposureIndex, isAffected } from '@strata/advisories';
import type { DomainIndex, DomainSet } from '@strata/analytics';
import { productKeysOf, type Rulebook } from '@strata/detect';
import type { Store } from '@strata/store';
import { LRUCache } from 'lru-cache';
import { buildsShown, type SeenService, servicesShown, type Use, unionOf, usesOf } from './product-uses.ts';
import type { SourceName } from './source.ts';

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

/** One advisory on one product, as one build of it is concerned. */
export interface Exposure {
  readonly entry: Entry;
  readonly product: string;
  readonly build: Build;
  readonly isAffected: boolean;
}

/** What has changed: whose answers are stale, and the entries as they are now. */
export interface FollowedChange {
  readonly products: ReadonlySet<string>;
  readonly entries: readonly Entry[];
}

/** The others only say more of what these tell. */
const TELLING: ReadonlySet<string> = new Set<SourceName>(['nvd', 'osv', 'cve', 'folder']);
const CHANGES_AT_ONCE = 500;
/** Each is judged against every build of its products: after so long others get a turn. */
const TURN_MS = 10;
/** Events between the index and the watch; of older ones it is not known any more what was shown before. */
const EVENTS_REMEMBERED = 100_000;

export class Exposures {
  readonly #parts: ExposureParts;
  readonly advisories: ExposureIndex;
  /** Put together when somebody asks; forgotten when a domain that uses the product has changed. */
  readonly #uses = new Map<string, readonly Use[]>();
  readonly #shownBefore = new LRUCache<number, readonly SeenService[]>({ max: EVENTS_REMEMBERED });
  #seq: number;
  #isKnown = false;
  #isBegun = false;

  private constructor(parts: ExposureParts, advisories: ExposureIndex, seq: number) {
    this.#parts = parts;
    this.advisories = advisories;
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
    await exposures.learn();
    return exposures;
  }

  /** Whether any source that tells of vulnerabilities was ever read whole: before, nothing is known of anybody. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** Looks whether that has come to be so; true when it just has. */
  async learn(): Promise<boolean> {
    if (this.#isKnown) return false;
    const sources = await this.#parts.store.sources.list(new Date());
    this.#isKnown = sources.some(({ name, finishedAt }) => finishedAt !== null && TELLING.has(name));
    return this.#isKnown;
  }

  /** Domains that use these, or did, have changed. */
  touch(providers: Iterable<string>): void {
    for (const provider of providers) this.#uses.delete(provider);
  }

  /** What a domain showed before an event of the log, for who looks at the event after the index has. */
  remember(seq: number, shownBefore: readonly SeenService[]): void {
    this.#shownBefore.set(seq, shownBefore);
  }

  /** What it was exposed to before the event, by the advisories of today; undefined where that is forgotten. */
  before(seq: number): readonly Exposure[] | undefined {
    const services = this.#shownBefore.get(seq);
    return services && this.ofServices(services);
  }

  /** Builds that the index has met for the first time. */
  addBuilds(builds: readonly (Build & { readonly provider: string })[]): void {
    for (const { provider, version, platform } of builds) this.advisories.addBuild(provider, { version, platform });
  }

  /**
   * Takes in what has changed in the store. What `onChanged` could not finish is handed out again by the next call. The first
   * call hands out everything that was there at the start: a kill may have come before all of it was told.
   */
  async follow(onChanged: (change: FollowedChange) => Promise<void>): Promise<void> {
    const { store } = this.#parts;
    if (!this.#isBegun) await onChanged({ products: new Set(), entries: this.advisories.inOrder() });
    this.#isBegun = true;
    for (;;) {
      const changes = await store.advisories.changesSince(this.#seq, CHANGES_AT_ONCE);
      const last = changes.at(-1);
      if (!last) return;
      const stored = await store.advisories.read(changes.map(({ advisoryId }) => advisoryId));
      const gone = new Set(changes.map(({ advisoryId }) => advisoryId));
      const products = new Set<string>();
      const entries: Entry[] = [];
      let turnBegan = performance.now();
      for (const each of stored) {
        for (const product of this.#put(each, entries)) products.add(product);
        gone.delete(each.advisory.id);
        if (performance.now() - turnBegan < TURN_MS) continue;
        await nextTurn();
        turnBegan = performance.now();
      }
      for (const id of gone) for (const product of this.advisories.delete(id)) products.add(product);
      await onChanged({ products, entries });
      this.#seq = last.seq;
      if (changes.length < CHANGES_AT_ONCE) return;
    }
  }

  /** What domains show of a product, build by build. */
  usesOf(product: string): readonly Use[] {
    let uses = this.#uses.get(product);
    if (!uses) {
      uses = usesOf(this.#parts.index, product);
      this.#uses.set(product, uses);
    }
    return uses;
  }

  /** Domains that an advisory concerns by these of its products; one that shows a version in range is not among the others. */
  domainsOf(entry: Entry, products: readonly string[] = entry.products): ExposedDomains {
    const sets = { version: [] as DomainSet[], product: [] as DomainSet[] };
    for (const id of products) {
      for (const { build, domains } of this.usesOf(id)) {
        const code = this.advisories.verdictOn(entry, id, build);
        if (code !== undefined) sets[isAffected(code) ? 'version' : 'product'].push(domains);
      }
    }
    const version = unionOf(sets.version);
    const product = unionOf(sets.product);
    return { version, product: version.size === 0 ? product : product.andNot(version) };
  }

  /** What concerns one domain by what the index says that it shows, the most urgent first. */
  ofDomain(domain: number): readonly Exposure[] {
    return this.ofServices(servicesShown(this.#parts.index, domain));
  }

  /** What concerns a domain with these services, the most urgent first. */
  ofServices(services: readonly SeenService[]): readonly Exposure[] {
    const found = [...buildsShown(services)].flatMap(([product, build]) => {
      this.advisories.addBuild(product, build);
      return this.#exposuresOf(product, build);
    });
    return found.sort((a, b) => byUrgency(a.entry, b.entry));
  }

  /** What concerns users of a product, the most urgent first, each advisory once; affected where any domain is. */
  ofProduct(product: string): readonly Exposure[] {
    const byEntry = new Map<Entry, Exposure>();
    for (const { build } of this.usesOf(product)) {
      for (const exposure of this.#exposuresOf(product, build)) {
        if (exposure.isAffected || !byEntry.has(exposure.entry)) byEntry.set(exposure.entry, exposure);
      }
    }
    return [...byEntry.values()].sort((a, b) => byUrgency(a.entry, b.entry));
  }

  /** Domains that use a product which advisories may name, and those of them that show a version. */
  coverage(): { readonly domains: number; readonly versioned: number; readonly products: number } {
    const uses = this.advisories.products.map((product) => this.usesOf(product));
    const domains = unionOf(uses.flat().map((use) => use.domains));
    const versioned = unionOf(uses.flat().flatMap((use) => (use.build.version === null ? [] : [use.domains])));
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
    for (let place = 0; place < verdicts.length; place += 1) {
      const entry = this.advisories.entryAt(verdicts.numberAt(place));
      if (entry) found.push({ entry, product, build, isAffected: isAffected(verdicts.codeAt(place)) });
    }
    return found;
  }
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));
