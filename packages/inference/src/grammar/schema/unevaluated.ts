// `unevaluatedProperties` and `unevaluatedItems`: each alternative knows which names and items its keywords evaluated.
// json-schema.org/draft/2020-12/json-schema-core#section-11
import { matches } from '../text/automaton.ts';
import type { SchemaNode } from './schema-reader.ts';
import { inside, type ValueSets } from './value-sets.ts';
import { type All, type ArrayShape, allOf, type ObjectShape, type Values } from './values.ts';

/** The values of a node's other keywords, with these two applied. */
export function withUnevaluated(sets: ValueSets, values: Values, node: SchemaNode): Values {
  const { unevaluatedItems, unevaluatedProperties } = node.schema;
  let result = values;
  if (unevaluatedProperties !== undefined) {
    const rest = inside(sets, node, unevaluatedProperties, 'unevaluatedProperties');
    result = { ...result, objects: result.objects.map((shape) => closedObject(sets, shape, rest)) };
  }
  if (unevaluatedItems !== undefined) {
    const rest = inside(sets, node, unevaluatedItems, 'unevaluatedItems');
    result = { ...result, arrays: result.arrays.map((shape) => closedArray(sets, shape, { rest, node })) };
  }
  return result;
}

function closedObject({ make }: ValueSets, shape: ObjectShape, rest: All): ObjectShape {
  const { properties, patterns } = shape.evaluated;
  const isEvaluated = (name: string) => properties.has(name) || matches(make, patterns, name);
  return {
    ...shape,
    properties: new Map(
      Array.from(shape.properties, ([name, value]) => [name, isEvaluated(name) ? value : allOf(value, rest)]),
    ),
    additional: shape.additional
      .flatMap(({ names, value }) => [
        { names: make.and(names, patterns), value },
        { names: make.and(names, make.not(patterns)), value: allOf(value, rest) },
      ])
      .filter(({ names }) => names !== make.none),
    evaluated: { properties, patterns: make.all },
  };
}

function closedArray(
  { reader }: ValueSets,
  shape: ArrayShape,
  { rest, node }: { rest: All; node: SchemaNode },
): ArrayShape {
  if (shape.contains.length > 0)
    throw reader.refusal('unsupported_value', node.path, 'combines `contains` with `unevaluatedItems`');
  if (shape.evaluated === Number.POSITIVE_INFINITY) return shape;
  return {
    ...shape,
    prefix: shape.prefix.map((each, i) => (i < shape.evaluated ? each : allOf(each, rest))),
    items: allOf(shape.items, rest),
    evaluated: Number.POSITIVE_INFINITY,
  };
}
