// Matches advisories with the products and versions that domains show.
import { type Build, byUrgency, type Entry, ExposureIndex, isAffected } from '@strata/advisories';
import type { Analytics, BuildCount } from '@strata/analytics';
import { productKeysOf, type Rulebook } from '@strata/detect';
import type { AdvisoryChange } from '../../events.ts';
import { sleep } from '../../sleep.ts';
import type { Store } from '../../store/index.ts';
import { EventLoopBudget } from '../event-loop-budget.ts';
import type { SourceName } from '../source.ts';
import { buildsShown, type ObservedService } from './product-uses.ts';

export interface ExposureDeps {
  readonly store: Store;
  readonly analytics: Analytics;
  readonly rulebook: Rulebook;
}

/** The builds that domains show, by product. */
export type Uses = ReadonlyMap<string, readonly BuildCount[]>;

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
const RETRY_LOAD_MS = 5_000;

export class Exposures implements AsyncDisposable {
  readonly #deps: ExposureDeps;
  readonly advisories: ExposureIndex;
  /** Read on demand; dropped when a domain with the product changes. */
  readonly #uses = new Map<string, Promise<readonly BuildCount[]>>();
  /** By product: the last event that dropped its uses, until the answers include it, and their position at the last read. */
  readonly #awaited = new Map<string, { readonly seq: number; readAt?: number }>();
  #seq: number;
  #isKnown = false;
  #isLoaded = false;
  readonly #stopping = new AbortController();
  #loading: Promise<void> = Promise.resolve();
  /** Why loading does not go on; it is tried again. */
  #failure: unknown;

  private constructor(deps: ExposureDeps, advisories: ExposureIndex, seq: number) {
    this.#deps = deps;
    this.advisories = advisories;
    this.#seq = seq;
  }

  /** Reads the advisories of every product in the rulebook. */
  static async open(deps: ExposureDeps): Promise<Exposures> {
    const { store, rulebook } = deps;
    const products = [...rulebook.providers.values()]
      .map((provider) => ({ id: provider.id, keys: productKeysOf(provider), releaseParts: provider.releaseParts }))
      .filter(({ keys }) => keys.length > 0);
    const advisories = new ExposureIndex(products);
    await using opening = new AsyncDisposableStack();
    const exposures = opening.use(new Exposures(deps, advisories, await store.advisories.latestChange()));
    exposures.#loading = exposures.#load(await store.advisories.naming(advisories.keys));
    // A few thousand take a second; the start does not wait for a quarter of a million.
    const waiting = new AbortController();
    await Promise.race([exposures.#loading, sleep(OPEN_WAIT_MS, waiting.signal)]);
    waiting.abort();
    await exposures.learn();
    opening.move();
    return exposures;
  }

  /** Whether all advisories are loaded; until then lists are incomplete. Throws while loading fails. */
  get isLoaded(): boolean {
    if (this.#failure !== undefined) throw new Error('read the advisories', { cause: this.#failure });
    return this.#isLoaded;
  }

  async #load(ids: readonly string[]): Promise<void> {
    const budget = new EventLoopBudget();
    const { signal } = this.#stopping;
    for (let from = 0; from < ids.length && !signal.aborted; ) {
      try {
        for (const stored of await this.#deps.store.advisories.read(ids.slice(from, from + LOADED_AT_ONCE))) {
          this.advisories.put(stored);
          await budget.yieldIfSpent();
        }
        this.#failure = undefined;
        from += LOADED_AT_ONCE;
      } catch (error) {
        this.#failure = error;
        await sleep(RETRY_LOAD_MS, signal);
      }
    }
    this.#isLoaded = !signal.aborted;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
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
    this.#isKnown = isRead && Object.keys((await this.#deps.store.advisories.counts()).bySource).length > 0;
    return this.#isKnown;
  }

  /** Drops the uses of these products, by default of all, for an event that the answers may not include yet. */
  drop(seq: number, products: Iterable<string> = this.advisories.products): void {
    for (const product of products) {
      this.#uses.delete(product);
      this.#awaited.set(product, { seq });
    }
  }

  /** Drops what was read before the answers included an awaited event. */
  async #dropOutdated(products: readonly string[]): Promise<void> {
    const awaited = products.filter((product) => this.#awaited.has(product));
    if (awaited.length === 0) return;
    const { seq } = await this.#deps.analytics.asOf();
    for (const product of awaited) {
      const event = this.#awaited.get(product);
      if (!event) continue;
      if (event.readAt !== seq) this.#uses.delete(product);
      event.readAt = seq;
      if (event.seq <= seq) this.#awaited.delete(product);
    }
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
        const { id } = each.advisory;
        for (const product of this.advisories.put(each)) products.add(product);
        const entry = this.advisories.find(id);
        if (entry) entries.push(entry);
        removed.delete(id);
        await budget.yieldIfSpent();
      }
      for (const id of removed) for (const product of this.advisories.delete(id)) products.add(product);
      yield { products, entries };
      this.#seq = last.seq;
      if (changes.length < CHANGES_AT_ONCE) return;
    }
  }

  /** The uses of these products, by default of all; rejects if analytics are unavailable. */
  async uses(products: readonly string[] = this.advisories.products): Promise<Uses> {
    await this.#dropOutdated(products);
    const unknown = products.filter((product) => !this.#uses.has(product));
    if (unknown.length > 0) {
      const reading = this.#deps.analytics.builds(unknown);
      const byProduct = reading.then((builds) => Map.groupBy(builds, ({ product }) => product));
      // Before the answer: an event in the meantime drops them again.
      for (const product of unknown) {
        const uses = byProduct.then((of) => of.get(product) ?? []);
        this.#uses.set(product, uses);
        uses.catch(() => this.#uses.get(product) === uses && this.#uses.delete(product));
      }
    }
    // Before the answer: an event in the meantime does not remove them from this one.
    const known = products.map((product) => [product, this.#uses.get(product)] as const);
    const uses = new Map<string, readonly BuildCount[]>();
    for (const [product, builds = []] of known) uses.set(product, await builds);
    for (const [product, builds] of uses) for (const build of builds) this.advisories.addBuild(product, build);
    return uses;
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
  async ofProduct(product: string): Promise<readonly Exposure[]> {
    const byEntry = new Map<Entry, Exposure>();
    for (const { version, platform } of (await this.uses([product])).get(product) ?? []) {
      const build = { version, platform };
      for (const exposure of this.#exposuresOf(product, build)) {
        if (exposure.isAffected || !byEntry.has(exposure.entry)) byEntry.set(exposure.entry, exposure);
      }
    }
    return [...byEntry.values()].sort((a, b) => byUrgency(a.entry, b.entry));
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
