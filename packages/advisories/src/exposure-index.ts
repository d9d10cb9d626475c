// Advisories against the products that domains show, incremental both ways: a new advisory is judged against every build
// seen, a new build against every advisory of its product. Domains are counted by whoever knows which domain shows what.
import {
  type Advisory,
  type ExploitScore,
  type KnownExploited,
  type ProductKey,
  SEVERITIES,
  type Severity,
} from './advisory.ts';
import { type Judgement, judge, productKeysOf } from './judge.ts';
import { urgencyOf } from './priority.ts';
import { codeOf, type VerdictCode, VerdictList } from './verdict-list.ts';

/** A product of the rulebook with every name that publishers know it by. */
export interface KnownProduct {
  readonly id: string;
  readonly keys: readonly ProductKey[];
}

/** What a domain shows of a product; without a version it is known to use it, no more. */
export interface Build {
  readonly version: string | null;
  readonly platform: string | null;
}

/** An advisory with what is known of its exploitation. */
export interface Assessed {
  readonly advisory: Advisory;
  readonly exploited: KnownExploited | null;
  readonly score: Omit<ExploitScore, 'cve'> | null;
}

/** An advisory as the index keeps it. */
export interface Entry extends Assessed {
  /** Its place in the lists; a changed advisory gets another. */
  readonly number: number;
  /** Ids of the known products that it names. */
  readonly products: readonly string[];
  /** `urgencyOf` it. */
  readonly urgency: number;
}

interface Shelf {
  readonly product: KnownProduct;
  /** Numbers of the advisories that name it, ascending. */
  readonly numbers: Set<number>;
  readonly builds: Map<string, { readonly build: Build; readonly verdicts: VerdictList }>;
}

const NO_VERSION: Build = { version: null, platform: null };

export class ExposureIndex {
  readonly #shelves = new Map<string, Shelf>();
  readonly #productsByKey = new Map<ProductKey, string[]>();
  readonly #numbers = new Map<string, number>();
  readonly #entries = new Map<number, Entry>();
  /** By number: what is asked for of every advisory in a walk over all. */
  readonly #severities: number[] = [];
  #next = 0;
  #order: readonly Entry[] | undefined;

  constructor(products: readonly KnownProduct[]) {
    for (const product of products) {
      this.#shelves.set(product.id, { product, numbers: new Set(), builds: new Map() });
      for (const key of product.keys)
        this.#productsByKey.set(key, [...(this.#productsByKey.get(key) ?? []), product.id]);
      this.addBuild(product.id, NO_VERSION);
    }
  }

  /** How many advisories name a known product. */
  get size(): number {
    return this.#entries.size;
  }

  get products(): readonly string[] {
    return [...this.#shelves.keys()];
  }

  /** Numbers of entries are below it. */
  get limit(): number {
    return this.#next;
  }

  /** All names of all known products. */
  get keys(): readonly ProductKey[] {
    return [...this.#productsByKey.keys()];
  }

  /** By its own id or another of the same vulnerability, in any case; two advisories may share such a one. */
  named(text: string): readonly Entry[] {
    const id = text.trim().toUpperCase();
    const own = this.find(id);
    if (own) return [own];
    return this.inOrder().filter(({ advisory }) => {
      return advisory.id.toUpperCase() === id || advisory.aliases.some((alias) => alias.toUpperCase() === id);
    });
  }

  find(id: string): Entry | undefined {
    const number = this.#numbers.get(id);
    return number === undefined ? undefined : this.#entries.get(number);
  }

  entryAt(number: number): Entry | undefined {
    return this.#entries.get(number);
  }

  isOfSeverity(number: number, severity: Severity): boolean {
    return this.#severities[number] === severityNumber(severity);
  }

  /** Takes in an advisory, new or changed; returns the products that it names now or named before. */
  put(assessed: Assessed): readonly string[] {
    const { advisory } = assessed;
    const before = this.find(advisory.id);
    this.#order = undefined;
    if (before && sameClaims(before.advisory, advisory)) {
      this.#severities[before.number] = severityNumber(advisory.severity);
      this.#entries.set(before.number, { ...before, ...assessed, urgency: urgencyOf(assessed) });
      return before.products;
    }
    if (before) this.#remove(before);
    const products = advisory.state === 'rejected' ? [] : this.#productsOf(advisory);
    if (products.length === 0) return before?.products ?? [];
    const entry: Entry = { ...assessed, number: this.#next, products, urgency: urgencyOf(assessed) };
    this.#next += 1;
    this.#severities[entry.number] = severityNumber(advisory.severity);
    this.#numbers.set(advisory.id, entry.number);
    this.#entries.set(entry.number, entry);
    for (const id of products) this.#shelve(entry, this.#shelf(id));
    return [...new Set([...products, ...(before?.products ?? [])])];
  }

  delete(id: string): readonly string[] {
    const entry = this.find(id);
    if (!entry) return [];
    this.#order = undefined;
    this.#remove(entry);
    return entry.products;
  }

  /** Judges every advisory of the product for a build; one that is known already costs nothing. Unknown products are none. */
  addBuild(product: string, build: Build): void {
    const shelf = this.#shelves.get(product);
    const key = keyOf(build);
    if (!shelf || shelf.builds.has(key)) return;
    const verdicts = new VerdictList();
    for (const number of shelf.numbers) {
      const entry = this.#entries.get(number);
      const code = entry && this.#judge(entry, shelf.product, build);
      if (code !== undefined) verdicts.push(number, code);
    }
    shelf.builds.set(key, { build, verdicts });
  }

  /** What advisories say of a build of a product; empty for one that was never added. */
  verdictsOf(product: string, build: Build): VerdictList {
    return this.#shelves.get(product)?.builds.get(keyOf(build))?.verdicts ?? NOTHING;
  }

  /** What an advisory says of a build; undefined where it does not concern it. */
  verdictOn({ number }: Entry, product: string, build: Build): VerdictCode | undefined {
    return this.verdictsOf(product, build).find(number);
  }

  /** The judgement in full, with the range in words. */
  judgementOf({ advisory }: Entry, product: string, build: Build): Judgement {
    return judge(advisory, { keys: this.#shelf(product).product.keys, ...build });
  }

  /** All, the most urgent first; equally urgent ones by id. */
  inOrder(): readonly Entry[] {
    this.#order ??= [...this.#entries.values()].sort(byUrgency);
    return this.#order;
  }

  #shelf(id: string): Shelf {
    const shelf = this.#shelves.get(id);
    if (!shelf) throw new RangeError(`'${id}' is no known product`);
    return shelf;
  }

  #productsOf(advisory: Advisory): string[] {
    const ids = new Set<string>();
    for (const key of productKeysOf(advisory)) for (const id of this.#productsByKey.get(key) ?? []) ids.add(id);
    return [...ids];
  }

  #shelve(entry: Entry, { product, numbers, builds }: Shelf): void {
    numbers.add(entry.number);
    for (const { build, verdicts } of builds.values()) {
      const code = this.#judge(entry, product, build);
      if (code !== undefined) verdicts.push(entry.number, code);
    }
  }

  #judge({ advisory }: Entry, { keys }: KnownProduct, build: Build): VerdictCode | undefined {
    return codeOf(judge(advisory, { keys, ...build }));
  }

  #remove(entry: Entry): void {
    this.#numbers.delete(entry.advisory.id);
    this.#entries.delete(entry.number);
    for (const id of entry.products) {
      const { numbers, builds } = this.#shelf(id);
      numbers.delete(entry.number);
      for (const { verdicts } of builds.values()) verdicts.delete(entry.number);
    }
  }
}

const NOTHING = new VerdictList();

const severityNumber = (severity: Severity | null): number => (severity === null ? -1 : SEVERITIES.indexOf(severity));

/** Of what is shown nothing holds a NUL, so that no two builds share a key. */
const keyOf = ({ version, platform }: Build): string => `${version ?? '\0'}\0${platform ?? '\0'}`;

/** A score that moves every day changes no verdict. */
function sameClaims(a: Advisory, b: Advisory): boolean {
  return a.state === b.state && JSON.stringify(a.claims) === JSON.stringify(b.claims);
}

/** The most urgent first; equally urgent ones by id. */
export function byUrgency(a: Entry, b: Entry): number {
  return b.urgency - a.urgency || (a.advisory.id < b.advisory.id ? -1 : a.advisory.id === b.advisory.id ? 0 : 1);
}
