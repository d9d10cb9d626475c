// The values of combinations of nodes, each computed once.
import { isEmptyTerm } from '../text/automaton.ts';
import { type Expression, Expressions } from '../text/expression.ts';
import { formatPattern } from '../text/formats.ts';
import { NumberTerms } from '../text/number-expression.ts';
import { patternExpression } from '../text/pattern-expression.ts';
import type { Work } from '../text/work.ts';
import { neededNames, withNeeded } from './needed-pairs.ts';
import type { SchemaNode, SchemaReader } from './schema-reader.ts';
import {
  type AdditionalNames,
  type All,
  ANY_ARRAY,
  allOf,
  anyObject,
  intersectionOf,
  NOTHING,
  noValues,
  type ObjectShape,
  propertyOf,
  unionOf,
  type Values,
} from './values.ts';

/** Maximum number of combinations of nodes. */
const MAX_SETS = 20_000;

/** The values of one node, or those that it does not allow. */
export type NodeValues = (sets: ValueSets, node: SchemaNode, isNegated: boolean) => Values;

/** Every method throws CompletionError for what the grammar cannot hold, and TooLarge. */
export class ValueSets {
  readonly make: Expressions;
  readonly numbers: NumberTerms;
  readonly reader: SchemaReader;
  readonly any: Values;
  readonly none: Values;
  /** Formats by their terms. */
  readonly formatOf = new Map<Expression, string>();
  readonly #formats = new Map<string, Expression>();
  readonly #nodeValues: NodeValues;
  readonly #known = new Map<string, Values>();
  readonly #empty = new Map<string, boolean>();
  readonly #finite = new Map<string, boolean>();
  readonly #open = new Set<number>();

  constructor(reader: SchemaReader, { nodeValues, work }: { nodeValues: NodeValues; work: Work | undefined }) {
    this.reader = reader;
    this.#nodeValues = nodeValues;
    this.make = new Expressions(work);
    this.numbers = new NumberTerms(this.make);
    this.none = noValues(this.make);
    this.any = {
      ...{ null: true, true: true, false: true, number: this.numbers.number, string: this.make.all },
      ...{ arrays: [ANY_ARRAY], objects: [anyObject(this.make)] },
    };
  }

  /** The texts of a format; undefined for a format that is an annotation. */
  format(name: string): Expression | undefined {
    const known = this.#formats.get(name);
    const pattern = known ? undefined : formatPattern(name);
    if (pattern === undefined) return known;
    const term = patternExpression(this.make, pattern);
    this.#formats.set(name, term);
    this.formatOf.set(term, name);
    return term;
  }

  /** The values that all the given nodes allow. */
  of(all: All): Values {
    if (all.length === 0) return this.any;
    if (all.includes(NOTHING)) return this.none;
    const key = all.join();
    this.make.work.spend(2 * all.length);
    const known = this.#known.get(key);
    if (known) return known;
    if (this.#known.size > MAX_SETS) throw this.reader.refusal('unsupported_value', '#', 'is too large');
    const [first = NOTHING] = all;
    const values = all.length === 1 ? this.#ofNode(first) : all.map((each) => this.of([each])).reduce(this.both);
    this.#known.set(key, values);
    return values;
  }

  readonly both = (a: Values, b: Values): Values =>
    a === this.any || a === b ? b : b === this.any ? a : intersectionOf(this.make, a, b);

  /** The values that not all the given nodes allow. */
  notOf(all: All): Values {
    if (all.includes(NOTHING)) return this.any;
    return unionOf(
      this.make,
      all.map((each) => this.of([each ^ 1])),
    );
  }

  /** Whether no value fits; that a value would have to be infinitely deep is not recognised. */
  isEmpty(all: All): boolean {
    const key = all.join();
    const known = this.#empty.get(key);
    if (known !== undefined) return known;
    this.#empty.set(key, false);
    const isEmpty = this.hasNone(this.of(all));
    this.#empty.set(key, isEmpty);
    return isEmpty;
  }

  /**
   * Whether no value of finite depth fits: the least fixed point, found by passes in which a set has no values until one
   * is found.
   */
  allowsNothing(all: All): boolean {
    for (;;) {
      const [before, visited] = [this.#finite.size, new Set<string>()];
      const visit = (each: All): boolean => {
        const key = each.join();
        if (this.#finite.has(key) || visited.has(key)) return this.#finite.get(key) !== true;
        visited.add(key);
        if (!this.bounded(each, () => this.hasNone(this.of(each), visit))) this.#finite.set(key, true);
        return !this.#finite.has(key);
      };
      const isNothing = visit(all);
      if (before !== this.#finite.size) continue;
      for (const key of visited) this.#finite.set(key, false);
      return isNothing;
    }
  }

  /** Whether there are no values, with `isEmpty` for those of members. */
  hasNone(
    { null: isNull, true: isTrue, false: isFalse, number, string, arrays, objects }: Values,
    isEmpty: (all: All) => boolean = (all) => this.isEmpty(all),
  ): boolean {
    if (isNull || isTrue || isFalse || !isEmptyTerm(this.make, string)) return false;
    if (!isEmptyTerm(this.make, this.make.and(number, this.numbers.written))) return false;
    return (
      arrays.every(
        ({ prefix, items, min, max, contains }) =>
          min > max ||
          prefix.slice(0, min).some(isEmpty) ||
          (min > prefix.length && isEmpty(items)) ||
          contains.some((each) => each.min > 0 && ![items, ...prefix].some((one) => !isEmpty(allOf(one, each.value)))),
      ) && objects.every((shape) => withNeeded(this.make, shape).every((each) => this.#isImpossible(each, isEmpty)))
    );
  }

  #isImpossible(shape: ObjectShape, isEmpty: (all: All) => boolean): boolean {
    const { required, needed, min, max } = shape;
    const isPossible = ({ names, value }: AdditionalNames) => !isEmptyTerm(this.make, names) && !isEmpty(value);
    return (
      Math.max(min, required.size + Math.min(1, needed.length)) > max ||
      [...required].some((name) => isEmpty(propertyOf(this.make, shape, name))) ||
      needed.some((need) => !neededNames(this.make, shape, need).some(isPossible))
    );
  }

  /** Runs a step; a bound that it reaches is reported with the location of the innermost schema. */
  bounded<T>(all: All, run: () => T): T {
    try {
      return run();
    } catch (error) {
      throw this.reader.tooLarge(error, this.pathOf(all));
    }
  }

  pathOf([first]: All): string {
    return first === undefined || first < 0 ? '#' : this.reader.at(first).path;
  }

  #ofNode(number: number): Values {
    const node = this.reader.at(number);
    if (this.#open.has(number)) throw this.reader.refusal('invalid_value', node.path, 'refers only to itself');
    this.#open.add(number);
    try {
      return this.bounded([number], () => this.#nodeValues(this, node, number % 2 === 1));
    } finally {
      this.#open.delete(number);
    }
  }
}

/** A schema within a node, as a node. */
export function inside({ reader }: ValueSets, { path, depth }: SchemaNode, schema: unknown, step: string): All {
  return reader.node(schema, `${path}/${step}`, depth + 1);
}

export function insideList(sets: ValueSets, node: SchemaNode, keyword: string): All[] {
  return ((node.schema[keyword] ?? []) as unknown[]).map((each, i) => inside(sets, node, each, `${keyword}/${i}`));
}
