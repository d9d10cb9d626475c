// The shape that the keywords of arrays and objects give to a value.
import { matches } from '../text/automaton.ts';
import { namePattern } from './scalar-values.ts';
import type { Schema } from './schema-keywords.ts';
import type { SchemaNode } from './schema-reader.ts';
import { inside, insideList, type ValueSets } from './value-sets.ts';
import {
  type AdditionalNames,
  type All,
  type ArrayShape,
  allOf,
  anyObject,
  NOTHING,
  type ObjectShape,
} from './values.ts';

const ARRAY_KEYWORDS = [
  ...['items', 'prefixItems', 'additionalItems', 'minItems', 'maxItems', 'contains', 'uniqueItems'],
];
const OBJECT_KEYWORDS = [
  ...['properties', 'required', 'additionalProperties', 'patternProperties', 'propertyNames'],
  ...['minProperties', 'maxProperties'],
];
const hasAny = (schema: Schema, keywords: readonly string[]) => keywords.some((each) => schema[each] !== undefined);

/** Undefined if the node has no keyword of arrays. */
export function arrayShape(sets: ValueSets, node: SchemaNode): ArrayShape | undefined {
  const { schema, path } = node;
  if (!hasAny(schema, ARRAY_KEYWORDS)) return undefined;
  // Before 2020-12, `items` with a list was `prefixItems`.
  const isTuple = Array.isArray(schema.items);
  const prefix = insideList(sets, node, isTuple ? 'items' : 'prefixItems');
  const rest = isTuple ? schema.additionalItems : schema.items;
  const [min, max] = [Number(schema.minItems ?? 0), Number(schema.maxItems ?? Number.POSITIVE_INFINITY)];
  if (max < min) throw sets.reader.refusal('invalid_value', path, 'has an empty range');
  const [least, most] = [Number(schema.minContains ?? 1), Number(schema.maxContains ?? Number.POSITIVE_INFINITY)];
  const isContained = schema.contains !== undefined && (least > 0 || most < Number.POSITIVE_INFINITY);
  return {
    prefix,
    items: rest === undefined ? [] : inside(sets, node, rest, isTuple ? 'additionalItems' : 'items'),
    min,
    max,
    contains: isContained ? [{ value: inside(sets, node, schema.contains, 'contains'), min: least, max: most }] : [],
    isUnique: schema.uniqueItems === true,
    evaluated: rest === undefined ? prefix.length : Number.POSITIVE_INFINITY,
  };
}

/** Undefined if the node has no keyword of objects. */
export function objectShape(sets: ValueSets, node: SchemaNode): ObjectShape | undefined {
  const { make } = sets;
  const { schema } = node;
  if (!hasAny(schema, OBJECT_KEYWORDS)) return undefined;
  const patterns = Object.entries((schema.patternProperties ?? {}) as Schema).map(([pattern, each]) => ({
    names: namePattern(sets, pattern, `${node.path}/patternProperties`),
    value: inside(sets, node, each, `patternProperties/${pattern}`),
  }));
  const own = (schema.properties ?? {}) as Schema;
  const properties = new Map(
    Object.entries(own).map(([name, each]) => {
      const matching = patterns.filter(({ names }) => matches(make, names, name));
      return [
        name,
        [inside(sets, node, each, `properties/${name}`), ...matching.map(({ value }) => value)].reduce(allOf),
      ];
    }),
  );
  const extra = inside(sets, node, schema.additionalProperties ?? true, 'additionalProperties');
  let shape: ObjectShape = {
    ...anyObject(make),
    properties,
    required: new Set((schema.required ?? []) as string[]),
    additional: additionalOf(sets, patterns, extra),
    min: Number(schema.minProperties ?? 0),
    max: Number(schema.maxProperties ?? Number.POSITIVE_INFINITY),
    evaluated: {
      properties: new Set(Object.keys(own)),
      patterns: schema.additionalProperties === undefined ? make.or(...patterns.map(({ names }) => names)) : make.all,
    },
  };
  if (schema.propertyNames !== undefined) {
    const names = sets.of(inside(sets, node, schema.propertyNames, 'propertyNames')).string;
    shape = {
      ...shape,
      properties: new Map(
        Array.from(properties, ([name, value]) => [name, matches(make, names, name) ? value : [NOTHING]] as const),
      ),
      additional: shape.additional.map((each) => ({ ...each, names: make.and(each.names, names) })),
    };
  }
  return shape;
}

/** Splits all names into disjoint sets by the patterns that they match. */
function additionalOf({ make }: ValueSets, patterns: readonly AdditionalNames[], extra: All): AdditionalNames[] {
  let classes = [{ names: make.all, value: [] as All, isMatched: false }];
  for (const { names, value } of patterns) {
    classes = classes.flatMap((each) => [
      { names: make.and(each.names, names), value: allOf(each.value, value), isMatched: true },
      { ...each, names: make.and(each.names, make.not(names)) },
    ]);
    classes = classes.filter((each) => each.names !== make.none);
  }
  return classes
    .map(({ names, value, isMatched }) => ({ names, value: isMatched ? value : extra }))
    .filter(({ value }) => !value.includes(NOTHING));
}
