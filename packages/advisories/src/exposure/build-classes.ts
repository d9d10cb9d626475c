// The observed builds of one product, sorted by version: an advisory is judged once for all builds that it cannot
// distinguish.
import type { VersionScheme } from '../advisory.ts';
import type { Configuration } from '../judge/configuration.ts';
import type { Criterion } from '../judge/criterion.ts';
import { type CompiledAdvisory, type Judgement, judgeCompiled } from '../judge/judge.ts';
import { type ObservedProduct, type PreparedProduct, prepare, versionUnder } from '../judge/prepared-product.ts';
import type { Interval } from '../versions/ranges.ts';

/** Builds whose version under a scheme is a single point, in order. */
interface Order {
  readonly keys: string[];
  readonly builds: number[];
}

export class BuildClasses {
  readonly #products: ObservedProduct[] = [];
  /** By build: a number for the properties that an advisory may test in addition to the version. */
  readonly #kinds: number[] = [];
  readonly #kindNumbers = new Map<string, number>();
  /** A truncated version is not a point on the line of versions, so it is judged separately. */
  readonly #spans = new Set<number>();
  /** Created when an advisory first uses the scheme. */
  readonly #orders = new Map<VersionScheme, Order>();

  /** Returns the number of the build. */
  add(product: ObservedProduct): number {
    const build = this.#products.length;
    const prepared = prepare(product);
    const kind = kindOf(prepared);
    let number = this.#kindNumbers.get(kind);
    if (number === undefined) {
      number = this.#kindNumbers.size;
      this.#kindNumbers.set(kind, number);
    }
    this.#products.push(product);
    this.#kinds.push(number);
    if (prepared.isCut) this.#spans.add(build);
    for (const [scheme, order] of this.#orders) this.#insert(build, versionUnder(prepared, scheme), order);
    return build;
  }

  /** Reports the judgement of the advisory for every build. */
  judgeAll(advisory: CompiledAdvisory, report: (build: number, judgement: Judgement) => void): void {
    const classes = this.#classesUnder(advisory);
    const known = new Map<number, Judgement>();
    for (const [build, product] of this.#products.entries()) {
      const classNumber = classes[build] as number;
      let judgement = this.#spans.has(build) ? undefined : known.get(classNumber);
      if (judgement === undefined) {
        judgement = judgeCompiled(advisory, product);
        if (!this.#spans.has(build)) known.set(classNumber, judgement);
      }
      report(build, judgement);
    }
  }

  /** By build, a number that is equal for builds that the advisory cannot distinguish. */
  #classesUnder(advisory: CompiledAdvisory): Float64Array {
    const classes = Float64Array.from(this.#kinds);
    let radix = this.#kindNumbers.size;
    for (const [scheme, bounds] of boundsOf(advisory)) {
      const { keys, builds } = this.#orderOf(scheme);
      const ranks = bounds.length + 2;
      // Above the limit two classes could get one number, and one would receive the other's judgement.
      if (radix * ranks > Number.MAX_SAFE_INTEGER) radix = renumber(classes);
      // One class for versions that the scheme cannot parse, one before each bound, and one after the last.
      let from = 0;
      for (let rank = 0; rank <= bounds.length; rank += 1) {
        const bound = bounds[rank];
        const to = bound === undefined ? keys.length : firstFrom(keys, bound);
        for (let index = from; index < to; index += 1) {
          const build = builds[index] as number;
          classes[build] = (classes[build] as number) + radix * (rank + 1);
        }
        from = Math.max(from, to);
      }
      radix *= ranks;
    }
    return classes;
  }

  #orderOf(scheme: VersionScheme): Order {
    let order = this.#orders.get(scheme);
    if (!order) {
      order = { keys: [], builds: [] };
      for (const [build, product] of this.#products.entries()) {
        this.#insert(build, versionUnder(prepare(product), scheme), order);
      }
      this.#orders.set(scheme, order);
    }
    return order;
  }

  #insert(build: number, version: Interval | undefined, { keys, builds }: Order): void {
    if (version === undefined || this.#spans.has(build)) return;
    const index = firstFrom(keys, version.low);
    keys.splice(index, 0, version.low);
    builds.splice(index, 0, build);
  }
}

/** All properties of a build that an advisory may test, except the position of its version. */
function kindOf({ version, platform, isPacked }: PreparedProduct): string {
  return JSON.stringify([version === null, version?.includes('-') === true, platform, isPacked]);
}

/** Replaces the numbers by the lowest ones, equal for equal; returns how many there are. */
function renumber(classes: Float64Array): number {
  const numbers = new Map<number, number>();
  for (const [build, before] of classes.entries()) {
    const number = numbers.get(before) ?? numbers.size;
    numbers.set(before, number);
    classes[build] = number;
  }
  return numbers.size;
}

/** The first index whose key is not less. */
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

/** Keys of versions by scheme, sorted, each once. */
function boundsOf({ sources }: CompiledAdvisory): ReadonlyMap<VersionScheme, readonly string[]> {
  const bounds = new Map<VersionScheme, Set<string>>();
  const add = (scheme: VersionScheme, intervals: readonly Interval[]) => {
    let of = bounds.get(scheme);
    if (!of) {
      of = new Set();
      bounds.set(scheme, of);
    }
    for (const { low, high } of intervals) of.add(low).add(high);
  };
  for (const claim of sources.flatMap(({ claims }) => claims)) {
    if (claim.kind === 'product') {
      add(claim.scheme, claim.affected.intervals);
      add(claim.scheme, claim.unaffected.intervals);
    } else {
      eachCriterion(claim.root, ({ scheme, intervals }) => add(scheme, intervals));
    }
  }
  return new Map([...bounds].map(([scheme, of]) => [scheme, [...of].sort()]));
}

/** Includes negated criteria and those of the environment. */
function eachCriterion(statement: Configuration['root'], report: (criterion: Criterion) => void): void {
  if (statement.kind === 'criterion') report(statement);
  else if (statement.kind !== 'unknown') for (const child of statement.children) eachCriterion(child, report);
}
