// The values that a schema allows, by type. Types are disjoint, so a union or an intersection is one of each type; of
// arrays and objects there is a list of alternatives. The schemas of members are not read yet: they may be recursive.
import { isEmptyTerm, matches } from '../text/automaton.ts';
import type { Expression, Expressions } from '../text/expression.ts';
import { TooLarge } from '../text/work.ts';

/** Schemas that hold at once, as the numbers of their nodes; none: every value. */
export type All = readonly number[];

export interface Values {
  readonly null: boolean;
  readonly true: boolean;
  readonly false: boolean;
  /** Terms over decimal texts and over the characters of a string. */
  readonly number: Expression;
  readonly string: Expression;
  readonly arrays: readonly ArrayShape[];
  readonly objects: readonly ObjectShape[];
}

export interface ArrayShape {
  readonly prefix: readonly All[];
  readonly items: All;
  readonly min: number;
  readonly max: number;
  readonly contains: readonly Contains[];
  readonly isUnique: boolean;
  /** Number of items at the start that a keyword evaluated. */
  readonly evaluated: number;
}

export interface Contains {
  readonly value: All;
  readonly min: number;
  readonly max: number;
}

export interface ObjectShape {
  /** In the order in which they are written; then the other required names. */
  readonly properties: ReadonlyMap<string, All>;
  readonly required: ReadonlySet<string>;
  /** Disjoint sets of other names, and the values of these; a name in none of them is not allowed. */
  readonly additional: readonly AdditionalNames[];
  /** At least one pair has a name of the set and the value, for each of these. */
  readonly needed: readonly AdditionalNames[];
  readonly min: number;
  readonly max: number;
  /** The names that a keyword evaluated: properties, and the names of patterns. */
  readonly evaluated: { readonly properties: ReadonlySet<string>; readonly patterns: Expression };
}

export interface AdditionalNames {
  readonly names: Expression;
  readonly value: All;
}

/** Alternatives of one type: each may be explored by the engine at once. */
const MAX_ALTERNATIVES = 1_000;

/** The schema `false`, as a node. */
export const NOTHING = -1;

export function allOf(a: All, b: All): All {
  if (a.length === 0 || a === b) return b;
  if (b.length === 0) return a;
  if (a.includes(NOTHING) || b.includes(NOTHING)) return [NOTHING];
  return [...new Set([...a, ...b])].sort((x, y) => x - y);
}

export const ANY_ARRAY: ArrayShape = {
  ...{ prefix: [], items: [], min: 0, max: Number.POSITIVE_INFINITY, contains: [], isUnique: false, evaluated: 0 },
};

export function anyObject(make: Expressions): ObjectShape {
  return {
    ...{ properties: new Map(), required: new Set(), min: 0, max: Number.POSITIVE_INFINITY },
    evaluated: { properties: new Set(), patterns: make.none },
    ...{ additional: [{ names: make.all, value: [] }], needed: [] },
  };
}

export function noValues(make: Expressions): Values {
  return {
    ...{ null: false, true: false, false: false, number: make.none, string: make.none, arrays: [], objects: [] },
  };
}

export function unionOf(make: Expressions, list: readonly Values[]): Values {
  return {
    null: list.some((each) => each.null),
    true: list.some((each) => each.true),
    false: list.some((each) => each.false),
    number: make.or(...list.map((each) => each.number)),
    string: make.or(...list.map((each) => each.string)),
    arrays: bounded([...new Set(list.flatMap((each) => each.arrays))]),
    objects: bounded([...new Set(list.flatMap((each) => each.objects))]),
  };
}

export function intersectionOf(make: Expressions, a: Values, b: Values): Values {
  return {
    null: a.null && b.null,
    true: a.true && b.true,
    false: a.false && b.false,
    number: nonEmpty(make, make.and(a.number, b.number)),
    string: nonEmpty(make, make.and(a.string, b.string)),
    arrays: bounded(pairs(a.arrays, b.arrays, bothArrays)),
    objects: bounded(pairs(a.objects, b.objects, (x, y) => bothObjects(make, x, y)).filter(isPossible)),
  };
}

function nonEmpty(make: Expressions, term: Expression): Expression {
  return isEmptyTerm(make, term) ? make.none : term;
}

function pairs<T>(a: readonly T[], b: readonly T[], both: (x: T, y: T) => T): T[] {
  if (a.length * b.length > 16 * MAX_ALTERNATIVES) throw new TooLarge('too many alternatives');
  return a.flatMap((x) => b.map((y) => (x === y ? x : both(x, y))));
}

function bounded<T>(list: readonly T[]): readonly T[] {
  assertFew(list.length);
  return list;
}

/** Throws TooLarge. */
export function assertFew(alternatives: number): void {
  if (alternatives > MAX_ALTERNATIVES) throw new TooLarge('too many alternatives');
}

function bothArrays(a: ArrayShape, b: ArrayShape): ArrayShape {
  if (a === ANY_ARRAY) return b;
  if (b === ANY_ARRAY) return a;
  const length = Math.max(a.prefix.length, b.prefix.length);
  return {
    prefix: Array.from({ length }, (_, i) => allOf(a.prefix[i] ?? a.items, b.prefix[i] ?? b.items)),
    items: allOf(a.items, b.items),
    min: Math.max(a.min, b.min),
    max: Math.min(a.max, b.max),
    contains: [...a.contains, ...b.contains],
    isUnique: a.isUnique || b.isUnique,
    evaluated: Math.max(a.evaluated, b.evaluated),
  };
}

function bothObjects(make: Expressions, a: ObjectShape, b: ObjectShape): ObjectShape {
  const names = new Set([...a.properties.keys(), ...b.properties.keys()]);
  make.work.spend(1 + names.size / 2);
  const properties = new Map(
    Array.from(names, (name) => [name, allOf(propertyOf(make, a, name), propertyOf(make, b, name))] as const),
  );
  for (const all of properties.values()) make.work.spend(all.length / 4);
  return {
    properties,
    required: new Set([...a.required, ...b.required]),
    additional: a.additional.flatMap((x) =>
      b.additional.flatMap((y) => {
        const both = nonEmpty(make, make.and(x.names, y.names));
        return both === make.none ? [] : [{ names: both, value: allOf(x.value, y.value) }];
      }),
    ),
    needed: [...a.needed, ...b.needed],
    min: Math.max(a.min, b.min),
    max: Math.min(a.max, b.max),
    evaluated: {
      properties: a.evaluated.properties.union(b.evaluated.properties),
      patterns: make.or(a.evaluated.patterns, b.evaluated.patterns),
    },
  };
}

/** Whether no required property is certainly impossible. */
function isPossible({ properties, required, min, max }: ObjectShape): boolean {
  return min <= max && ![...required].some((name) => properties.get(name)?.includes(NOTHING));
}

/** What an object's property of a name must be. */
export function propertyOf(make: Expressions, shape: ObjectShape, name: string): All {
  return (
    shape.properties.get(name) ?? shape.additional.find(({ names }) => matches(make, names, name))?.value ?? [NOTHING]
  );
}
