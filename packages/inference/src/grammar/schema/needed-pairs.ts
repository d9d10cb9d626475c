// Pairs that an object must have without their name being known: at least one name of a set has a value. A negation
// requires them.
import { matches } from '../text/automaton.ts';
import type { Expressions } from '../text/expression.ts';
import { textExpression } from '../text/number-expression.ts';
import { type AdditionalNames, allOf, assertFew, type ObjectShape, propertyOf } from './values.ts';

/**
 * The shapes of a shape by what its needed pairs are: properties, or pairs with other names. The needed pairs of the
 * result have no known name. Throws TooLarge.
 */
export function withNeeded(make: Expressions, shape: ObjectShape): readonly ObjectShape[] {
  if (shape.needed.length === 0) return [shape];
  const known = [...new Set([...shape.properties.keys(), ...shape.required])];
  const unknown = make.not(textExpression(make, known));
  let shapes: readonly ObjectShape[] = [{ ...shape, needed: [] }];
  for (const need of shape.needed) {
    const names = known.filter((name) => matches(make, need.names, name));
    assertFew(shapes.length * (names.length + 1));
    make.work.spend(shapes.length * (names.length + 1) * (1 + known.length / 4));
    shapes = shapes.flatMap((each) => [
      ...names.map((name) => ({
        ...each,
        properties: new Map(each.properties).set(name, allOf(propertyOf(make, each, name), need.value)),
        required: new Set(each.required).add(name),
      })),
      ...each.additional.slice(0, 1).map(() => ({ ...each, needed: [...each.needed, need] })),
    ]);
  }
  return shapes.map((each) => ({
    ...each,
    needed: each.needed.map(({ names, value }) => ({ names: make.and(names, unknown), value })),
  }));
}

/** One pair in place of several: an object with this pair has them all, but there are objects without it that do. */
export function combinedNeed(make: Expressions, list: readonly AdditionalNames[]): AdditionalNames {
  return { names: make.and(...list.map(({ names }) => names)), value: list.map(({ value }) => value).reduce(allOf) };
}

/** A needed pair of a shape of `withNeeded`, as far as its other names allow it. */
export function neededNames(
  make: Expressions,
  { additional }: ObjectShape,
  { names, value }: AdditionalNames,
): AdditionalNames[] {
  return additional.map((each) => ({ names: make.and(each.names, names), value: allOf(each.value, value) }));
}
