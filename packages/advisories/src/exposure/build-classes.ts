// The builds of one product that were seen, sorted by version: an advisory judges once for all that it cannot tell apart.
import type { VersionScheme } from '../advisory.ts';
import { type CompiledAdvisory, type Judgement, judgeCompiled } from '../judge/judge.ts';
import { type Seen, type SeenProduct, seenOf, versionUnder } from '../judge/seen.ts';
import type { Interval } from '../versions/ranges.ts';
import { boundsOf } from './version-bounds.ts';

/** Builds whose version can be read under a scheme and is one point, in order. */
interface Order {
  readonly keys: string[];
  readonly builds: number[];
}

export class BuildClasses {
  readonly #products: SeenProduct[] = [];
  /** By build: what an advisory may ask of it besides its version, as a number. */
  readonly #kinds: number[] = [];
  readonly #kindNumbers = new Map<string, number>();
  /** A version that is cut short is no point on the line, so judged by itself. */
  readonly #spans = new Set<number>();
  /** Made when an advisory first asks for the scheme. */
  readonly #orders = new Map<VersionScheme, Order>();

  get size(): number {
    return this.#products.length;
  }

  /** Returns the number of the build. */
  add(product: SeenProduct): number {
    const build = this.#products.length;
    const seen = seenOf(product);
    const kind = kindOf(seen);
    let number = this.#kindNumbers.get(kind);
    if (number === undefined) {
      number = this.#kindNumbers.size;
      this.#kindNumbers.set(kind, number);
    }
    this.#products.push(product);
    this.#kinds.push(number);
    if (seen.isCut) this.#spans.add(build);
    for (const [scheme, order] of this.#orders) this.#place(build, versionUnder(seen, scheme), order);
    return build;
  }

  productOf(build: number): SeenProduct {
    return this.#products[build] as SeenProduct;
  }

  /** What the advisory says of every build. */
  judgeAll(advisory: CompiledAdvisory, tell: (build: number, judgement: Judgement) => void): void {
    const classes = this.#classesUnder(advisory);
    const known = new Map<number, Judgement>();
    for (const [build, product] of this.#products.entries()) {
      const place = classes[build] as number;
      let judgement = this.#spans.has(build) ? undefined : known.get(place);
      if (judgement === undefined) {
        judgement = judgeCompiled(advisory, product);
        if (!this.#spans.has(build)) known.set(place, judgement);
      }
      tell(build, judgement);
    }
  }

  /** By build, a number that is the same for those that the advisory cannot tell apart. */
  #classesUnder(advisory: CompiledAdvisory): Float64Array {
    const classes = Float64Array.from(this.#kinds);
    let room = this.#kindNumbers.size;
    for (const [scheme, bounds] of boundsOf(advisory)) {
      const { keys, builds } = this.#orderOf(scheme);
      const ranks = bounds.length + 2;
      // Beyond it two classes may have one number, and one would be told what is said of the other.
      if (room * ranks > Number.MAX_SAFE_INTEGER) room = renumber(classes);
      // One for what cannot be read under the scheme, and one before each bound and after the last.
      let from = 0;
      for (let rank = 0; rank <= bounds.length; rank += 1) {
        const bound = bounds[rank];
        const to = bound === undefined ? keys.length : firstFrom(keys, bound);
        for (let place = from; place < to; place += 1) {
          const build = builds[place] as number;
          classes[build] = (classes[build] as number) + room * (rank + 1);
        }
        from = Math.max(from, to);
      }
      room *= ranks;
    }
    return classes;
  }

  #orderOf(scheme: VersionScheme): Order {
    let order = this.#orders.get(scheme);
    if (!order) {
      order = { keys: [], builds: [] };
      for (const [build, product] of this.#products.entries()) {
        this.#place(build, versionUnder(seenOf(product), scheme), order);
      }
      this.#orders.set(scheme, order);
    }
    return order;
  }

  #place(build: number, version: Interval | undefined, { keys, builds }: Order): void {
    if (version === undefined || this.#spans.has(build)) return;
    const place = firstFrom(keys, version.low);
    keys.splice(place, 0, version.low);
    builds.splice(place, 0, build);
  }
}

/** Everything that is asked of a build besides where its version stands. */
function kindOf({ version, platform, isPacked }: Seen): string {
  return JSON.stringify([version === null, version?.includes('-') === true, platform, isPacked]);
}

/** Puts the lowest numbers in place of those that are there, alike for alike; returns how many there are. */
function renumber(classes: Float64Array): number {
  const numbers = new Map<number, number>();
  for (const [build, before] of classes.entries()) {
    const number = numbers.get(before) ?? numbers.size;
    numbers.set(before, number);
    classes[build] = number;
  }
  return numbers.size;
}

/** The first place whose key is not less. */
function firstFrom(keys: readonly string[], bound: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] as string) < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
