// Advisories against the products that domains show, incremental both ways: a new advisory is judged against every build
// seen, a new build against every advisory of its product. Domains are counted by whoever knows which domain shows what.
import { type Advisory, type ProductKey, SEVERITIES, type Severity } from '../advisory.ts';
import { hashOf } from '../claims-hash.ts';
import { type Assessed, byUrgency, type Entry, entryOf, idsOf, placeOf } from '../entry.ts';
import {
  type CompiledAdvisory,
  compileAdvisory,
  type Judgement,
  judgeCompiled,
  productKeysOf,
} from '../judge/judge.ts';
import type { SeenProduct } from '../judge/seen.ts';
import { BuildClasses } from './build-classes.ts';
import { codeOf, type MarkFilter, type VerdictCode, VerdictList } from './verdict-list.ts';

/** A product of the rulebook with every name that publishers know it by. */
export interface KnownProduct {
  readonly id: string;
  readonly keys: readonly ProductKey[];
  /** How many numbers every release of it has. */
  readonly releaseParts?: number | undefined;
}

/** What a domain shows of a product; without a version it is known to use it, no more. */
export interface Build {
  readonly version: string | null;
  readonly platform: string | null;
}

/** All that are given must hold. */
export interface EntryFilter {
  readonly severity?: Severity | undefined;
  readonly isExploited?: boolean | undefined;
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
/** Of a mark: which severity, and whether it is known to be exploited. */
const SEVERITY_BITS = 7;
const EXPLOITED_BIT = 8;

export class ExposureIndex {
  readonly #shelves = new Map<string, Shelf>();
  readonly #productsByKey = new Map<ProductKey, string[]>();
  readonly #numbers = new Map<string, number>();
  readonly #kept = new Map<number, Kept>();
  /** By every id of it, upper case. */
  readonly #numbersById = new Map<string, Set<number>>();
  /** By number: what is asked for of every advisory in a walk over all. */
  #marks = new Uint8Array(1 << 10);
  #next = 0;
  /** Put in order when somebody asks, then kept so. */
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

  /** How many advisories name a known product. */
  get size(): number {
    return this.#kept.size;
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

  /** What a walk over lists of verdicts leaves out; undefined where it leaves out nothing. */
  marked({ severity, isExploited }: EntryFilter): MarkFilter | undefined {
    if (severity === undefined && isExploited === undefined) return undefined;
    return {
      values: this.#marks,
      mask: (severity === undefined ? 0 : SEVERITY_BITS) | (isExploited === undefined ? 0 : EXPLOITED_BIT),
      wanted: severityNumber(severity ?? null) | (isExploited ? EXPLOITED_BIT : 0),
    };
  }

  /** Takes in an advisory, new or changed; returns the products that it names now or named before. */
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

  /** Judges every advisory of the product for a build; one that is known already costs nothing. Unknown products are none. */
  addBuild(product: string, build: Build): void {
    const shelf = this.#shelves.get(product);
    const key = keyOf(build);
    if (!shelf || shelf.buildNumbers.has(key)) return;
    const seen = seenAt(shelf, build);
    const verdicts = new VerdictList();
    for (const number of shelf.numbers) {
      const kept = this.#kept.get(number);
      const code = kept && codeOf(judgeCompiled(kept.compiled, seen));
      if (code !== undefined) verdicts.push(number, code);
    }
    shelf.buildNumbers.set(key, shelf.classes.add(seen));
    shelf.verdicts.push(verdicts);
  }

  /** What advisories say of a build of a product; empty for one that was never added. */
  verdictsOf(product: string, build: Build): VerdictList {
    const shelf = this.#shelves.get(product);
    const number = shelf?.buildNumbers.get(keyOf(build));
    return (number === undefined ? undefined : shelf?.verdicts[number]) ?? NOTHING;
  }

  /** What an advisory says of a build; undefined where it does not concern it. */
  verdictOn({ number }: Entry, product: string, build: Build): VerdictCode | undefined {
    return this.verdictsOf(product, build).find(number);
  }

  /** The judgement in full, with the range in words. */
  judgementOf({ number }: Entry, product: string, build: Build): Judgement {
    const compiled = this.#kept.get(number)?.compiled ?? { sources: [] };
    return judgeCompiled(compiled, seenAt(this.#shelf(product), build));
  }

  /** All, the most urgent first; equally urgent ones by id. */
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
    if (!shelf) throw new RangeError(`'${id}' is no known product`);
    return shelf;
  }

  #productsOf(advisory: Advisory): string[] {
    return [...new Set(productKeysOf(advisory).flatMap((key) => this.#productsByKey.get(key) ?? []))];
  }

  #keep(kept: Kept, before?: Entry): void {
    const { entry } = kept;
    this.#numbers.set(entry.advisory.id, entry.number);
    this.#kept.set(entry.number, kept);
    this.#mark(entry);
    if (before) this.#forgetIds(before);
    for (const id of idsOf(entry)) {
      const numbers = this.#numbersById.get(id);
      if (numbers) numbers.add(entry.number);
      else this.#numbersById.set(id, new Set([entry.number]));
    }
    if (!this.#order) return;
    if (before) this.#order.splice(placeOf(this.#order, before), 1);
    this.#order.splice(placeOf(this.#order, entry), 0, entry);
  }

  #mark({ number, advisory, exploited }: Entry): void {
    if (number >= this.#marks.length) {
      const larger = new Uint8Array(this.#marks.length * 2);
      larger.set(this.#marks);
      this.#marks = larger;
    }
    this.#marks[number] = severityNumber(advisory.severity) | (exploited ? EXPLOITED_BIT : 0);
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
    this.#order?.splice(placeOf(this.#order, entry), 1);
    for (const id of entry.products) {
      const { numbers, verdicts } = this.#shelf(id);
      numbers.delete(entry.number);
      for (const list of verdicts) list.delete(entry.number);
    }
  }
}

function seenAt({ product: { keys, releaseParts } }: Shelf, { version, platform }: Build): SeenProduct {
  return { keys, version, platform, releaseParts };
}

/** Its number is larger than all before it, so that it goes to the end of every list. */
function shelve({ entry, compiled }: Kept, { numbers, classes, verdicts }: Shelf): void {
  numbers.add(entry.number);
  classes.judgeAll(compiled, (build, judgement) => {
    const code = codeOf(judgement);
    if (code !== undefined) verdicts[build]?.push(entry.number, code);
  });
}

/** Of what is shown nothing holds a NUL, and nothing is not what is empty: so no two builds share a key. */
const keyOf = ({ version, platform }: Build): string => `${partOf(version)}\0${partOf(platform)}`;
const partOf = (part: string | null): string => (part === null ? '' : `=${part}`);

/** 0 where there is none. */
const severityNumber = (severity: Severity | null): number =>
  severity === null ? 0 : SEVERITIES.indexOf(severity) + 1;
