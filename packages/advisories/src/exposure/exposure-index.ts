// Matches advisories with the products that domains show, incrementally in both directions: a new advisory is judged
// against every known build, a new build against every advisory of its product. The caller counts domains.
import type { Advisory, ProductKey } from '../advisory.ts';
import { hashOf } from '../claims-hash.ts';
import { type Assessed, byUrgency, type Entry, entryOf, idsOf, indexOfEntry } from '../entry.ts';
import {
  type CompiledAdvisory,
  compileAdvisory,
  type Judgement,
  judgeCompiled,
  productKeysOf,
} from '../judge/judge.ts';
import type { ObservedProduct } from '../judge/prepared-product.ts';
import { BuildClasses } from './build-classes.ts';
import { codeOf, VerdictList } from './verdict-list.ts';

/** A product of the rulebook with all names that publishers use for it. */
export interface KnownProduct {
  readonly id: string;
  readonly keys: readonly ProductKey[];
  /** Number of components of every release. */
  readonly releaseParts?: number | undefined;
}

/** What a domain shows of a product; null for the version means only that it uses the product. */
export interface Build {
  readonly version: string | null;
  readonly platform: string | null;
}

interface Kept {
  readonly entry: Entry;
  readonly compiled: CompiledAdvisory;
  /** Hash of the claims. */
  readonly claims: number;
}

interface Shelf {
  readonly product: KnownProduct;
  /** Numbers of the advisories that name it, ascending. */
  readonly numbers: Set<number>;
  readonly classes: BuildClasses;
  readonly buildNumbers: Map<string, number>;
  /** By number of the build. */
  readonly verdicts: VerdictList[];
}

const NO_VERSION: Build = { version: null, platform: null };
const NOTHING = new VerdictList();
export class ExposureIndex {
  readonly #shelves = new Map<string, Shelf>();
  readonly #productsByKey = new Map<ProductKey, string[]>();
  readonly #numbers = new Map<string, number>();
  readonly #kept = new Map<number, Kept>();
  /** By every id, upper case. */
  readonly #numbersById = new Map<string, Set<number>>();
  #next = 0;
  /** Sorted on first use, and kept sorted from then on. */
  #order: Entry[] | undefined;

  constructor(products: readonly KnownProduct[]) {
    for (const product of products) {
      const { id, keys } = product;
      const shelf = {
        product,
        numbers: new Set<number>(),
        classes: new BuildClasses(),
        buildNumbers: new Map(),
        verdicts: [],
      };
      this.#shelves.set(id, shelf);
      for (const key of keys) this.#productsByKey.set(key, [...(this.#productsByKey.get(key) ?? []), id]);
      this.addBuild(id, NO_VERSION);
    }
  }

  /** Number of advisories that name a known product. */
  get size(): number {
    return this.#kept.size;
  }

  get products(): readonly string[] {
    return [...this.#shelves.keys()];
  }

  /** All numbers of entries are below it. */
  get limit(): number {
    return this.#next;
  }

  /** All names of all known products. */
  get keys(): readonly ProductKey[] {
    return [...this.#productsByKey.keys()];
  }

  /** By its own id or an alias, in any case; two advisories may share an alias. */
  named(text: string): readonly Entry[] {
    const numbers = this.#numbersById.get(text.trim().toUpperCase()) ?? [];
    const entries = [...numbers].map((number) => this.entryAt(number)).filter((entry) => entry !== undefined);
    const own = entries.filter(({ advisory }) => advisory.id.toUpperCase() === text.trim().toUpperCase());
    return own.length > 0 ? own : entries;
  }

  find(id: string): Entry | undefined {
    const number = this.#numbers.get(id);
    return number === undefined ? undefined : this.entryAt(number);
  }

  entryAt(number: number): Entry | undefined {
    return this.#kept.get(number)?.entry;
  }

  /** Adds or updates an advisory; returns the products that it names or named before. */
  put(assessed: Assessed): readonly string[] {
    const { advisory } = assessed;
    const before = this.#find(advisory.id);
    const claims = hashOf(advisory.claims);
    if (before && before.claims === claims && advisory.state === before.entry.advisory.state) {
      this.#keep({ ...before, entry: entryOf(assessed, before.entry) }, before.entry);
      return before.entry.products;
    }
    if (before) this.#remove(before.entry);
    const products = advisory.state === 'rejected' ? [] : this.#productsOf(advisory);
    if (products.length === 0) return before?.entry.products ?? [];
    const kept = {
      entry: entryOf(assessed, { number: this.#next, products }),
      compiled: compileAdvisory(advisory),
      claims,
    };
    this.#next += 1;
    this.#keep(kept);
    for (const id of products) shelve(kept, this.#shelf(id));
    return [...new Set([...products, ...(before?.entry.products ?? [])])];
  }

  delete(id: string): readonly string[] {
    const kept = this.#find(id);
    if (!kept) return [];
    this.#remove(kept.entry);
    return kept.entry.products;
  }

  /** Judges every advisory of the product for a build; a known build costs nothing. Unknown products are ignored. */
  addBuild(product: string, build: Build): void {
    const shelf = this.#shelves.get(product);
    const key = keyOf(build);
    if (!shelf || shelf.buildNumbers.has(key)) return;
    const prepared = observedProduct(shelf, build);
    const verdicts = new VerdictList();
    for (const number of shelf.numbers) {
      const kept = this.#kept.get(number);
      const code = kept && codeOf(judgeCompiled(kept.compiled, prepared));
      if (code !== undefined) verdicts.push(number, code);
    }
    shelf.buildNumbers.set(key, shelf.classes.add(prepared));
    shelf.verdicts.push(verdicts);
  }

  /** The verdicts of all advisories on a build of a product; empty for an unknown build. */
  verdictsOf(product: string, build: Build): VerdictList {
    const shelf = this.#shelves.get(product);
    const number = shelf?.buildNumbers.get(keyOf(build));
    return (number === undefined ? undefined : shelf?.verdicts[number]) ?? NOTHING;
  }

  /** The complete judgement, with the text of the range. */
  judgementOf({ number }: Entry, product: string, build: Build): Judgement {
    const compiled = this.#kept.get(number)?.compiled ?? { sources: [] };
    return judgeCompiled(compiled, observedProduct(this.#shelf(product), build));
  }

  /** All entries, the most urgent first; equal ones by id. */
  inOrder(): readonly Entry[] {
    this.#order ??= [...this.#kept.values()].map(({ entry }) => entry).sort(byUrgency);
    return this.#order;
  }

  #find(id: string): Kept | undefined {
    const number = this.#numbers.get(id);
    return number === undefined ? undefined : this.#kept.get(number);
  }

  #shelf(id: string): Shelf {
    const shelf = this.#shelves.get(id);
    if (!shelf) throw new RangeError(`'${id}' is not a known product`);
    return shelf;
  }

  #productsOf(advisory: Advisory): string[] {
    return [...new Set(productKeysOf(advisory).flatMap((key) => this.#productsByKey.get(key) ?? []))];
  }

  #keep(kept: Kept, before?: Entry): void {
    const { entry } = kept;
    this.#numbers.set(entry.advisory.id, entry.number);
    this.#kept.set(entry.number, kept);
    if (before) this.#forgetIds(before);
    for (const id of idsOf(entry)) {
      const numbers = this.#numbersById.get(id);
      if (numbers) numbers.add(entry.number);
      else this.#numbersById.set(id, new Set([entry.number]));
    }
    if (!this.#order) return;
    if (before) this.#order.splice(indexOfEntry(this.#order, before), 1);
    this.#order.splice(indexOfEntry(this.#order, entry), 0, entry);
  }

  #forgetIds(entry: Entry): void {
    for (const id of idsOf(entry)) {
      const numbers = this.#numbersById.get(id);
      numbers?.delete(entry.number);
      if (numbers?.size === 0) this.#numbersById.delete(id);
    }
  }

  #remove(entry: Entry): void {
    this.#numbers.delete(entry.advisory.id);
    this.#kept.delete(entry.number);
    this.#forgetIds(entry);
    this.#order?.splice(indexOfEntry(this.#order, entry), 1);
    for (const id of entry.products) {
      const { numbers, verdicts } = this.#shelf(id);
      numbers.delete(entry.number);
      for (const list of verdicts) list.delete(entry.number);
    }
  }
}

function observedProduct({ product: { keys, releaseParts } }: Shelf, { version, platform }: Build): ObservedProduct {
  return { keys, version, platform, releaseParts };
}

/** The new number is the largest, so it is appended to every list. */
function shelve({ entry, compiled }: Kept, { numbers, classes, verdicts }: Shelf): void {
  numbers.add(entry.number);
  classes.judgeAll(compiled, (build, judgement) => {
    const code = codeOf(judgement);
    if (code !== undefined) verdicts[build]?.push(entry.number, code);
  });
}

/** Versions and platforms contain no NUL, and null differs from an empty text, so no two builds share a key. */
const keyOf = ({ version, platform }: Build): string => `${partOf(version)}\0${partOf(platform)}`;
const partOf = (part: string | null): string => (part === null ? '' : `=${part}`);
