// The values that a node does not allow: the union over its keywords. Keywords whose negation the grammar cannot hold
// are refused.
import type { Expression } from '../text/expression.ts';
import { textExpression } from '../text/number-expression.ts';
import { dependenciesOf } from './dependencies.ts';
import { constantValues, namePattern, numberTerms, stringTerm, typeValues } from './scalar-values.ts';
import type { Schema } from './schema-keywords.ts';
import type { SchemaNode } from './schema-reader.ts';
import { inside, insideList, type ValueSets } from './value-sets.ts';
import {
  type All,
  ANY_ARRAY,
  type ArrayShape,
  anyObject,
  NOTHING,
  type ObjectShape,
  unionOf,
  type Values,
} from './values.ts';

/** Keywords of which the negation is held only if they hold nothing themselves. */
const NOT_NEGATED = [
  ...['format', 'unevaluatedProperties', 'uniqueItems', 'additionalItems', 'unevaluatedItems'],
  ...['minContains', 'maxContains'],
];

/** Throws CompletionError. */
export function negatedValues(sets: ValueSets, node: SchemaNode): Values {
  const { make, any, both } = sets;
  const { schema } = node;
  assertNegatable(sets, node);
  const union: Values[] = [complementOfTypes(sets, typeValues(sets, node))];
  for (const each of [schema.enum, schema.const === undefined ? undefined : [schema.const]])
    if (Array.isArray(each)) union.push(complementOfConstants(sets, each, node));
  const number = make.and(any.number, make.not(make.and(...numberTerms(sets, node))));
  const string = make.not(stringTerm(sets, node));
  union.push({ ...sets.none, number, string });
  union.push({ ...sets.none, arrays: negatedArrays(sets, node), objects: negatedObjects(sets, node) });
  if (typeof schema.$ref === 'string') union.push(sets.notOf(sets.reader.target(schema.$ref, node)));
  for (const each of insideList(sets, node, 'allOf')) union.push(sets.notOf(each));
  if (schema.anyOf !== undefined)
    union.push(
      insideList(sets, node, 'anyOf')
        .map((each) => sets.notOf(each))
        .reduce(both),
    );
  if (schema.oneOf !== undefined) union.push(...notExactlyOne(sets, node));
  for (const { present, needed } of dependenciesOf(sets, node)) union.push(both(sets.of(present), sets.notOf(needed)));
  if (schema.not !== undefined) union.push(sets.of(inside(sets, node, schema.not, 'not')));
  if (schema.if !== undefined) {
    const condition = inside(sets, node, schema.if, 'if');
    const then = inside(sets, node, schema.then ?? true, 'then');
    const otherwise = inside(sets, node, schema.else ?? true, 'else');
    union.push(both(sets.of(condition), sets.notOf(then)), both(sets.notOf(condition), sets.notOf(otherwise)));
  }
  return unionOf(make, union);
}

/** None of the schemas, or two of them. */
function notExactlyOne(sets: ValueSets, node: SchemaNode): Values[] {
  const list = insideList(sets, node, 'oneOf');
  if (list.length > MAX_EXCLUSIVE)
    throw sets.reader.refusal(
      'unsupported_value',
      node.path,
      `negates a \`oneOf\` of more than ${MAX_EXCLUSIVE} schemas`,
    );
  const two = list.flatMap((each, i) => list.slice(i + 1).map((other) => sets.both(sets.of(each), sets.of(other))));
  return [list.map((each) => sets.notOf(each)).reduce(sets.both), ...two.filter((each) => !sets.hasNone(each))];
}

function assertNegatable(sets: ValueSets, { schema, path }: SchemaNode): void {
  const { reader } = sets;
  const isOpen = (value: unknown) =>
    value === undefined ||
    value === true ||
    (typeof value === 'string' && sets.format(value) === undefined) ||
    (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
  const used = NOT_NEGATED.find((keyword) => !(keyword === 'uniqueItems' ? !schema[keyword] : isOpen(schema[keyword])));
  const isTuple = Array.isArray(schema.items) || (schema.prefixItems !== undefined && !isOpen(schema.items));
  if (used !== undefined || isTuple)
    throw reader.refusal(
      'unsupported_value',
      path,
      `uses \`${used ?? 'items'}\` within \`not\` or an overlapping \`oneOf\`, which is not supported`,
    );
}

function complementOfTypes({ make, any }: ValueSets, values: Values): Values {
  return {
    ...{ null: !values.null, true: !values.true, false: !values.false },
    number: make.and(any.number, make.not(values.number)),
    string: make.not(values.string),
    arrays: values.arrays.length > 0 ? [] : any.arrays,
    objects: values.objects.length > 0 ? [] : any.objects,
  };
}

function complementOfConstants(sets: ValueSets, list: readonly unknown[], node: SchemaNode): Values {
  const values = constantValues(sets, list, node);
  if (values.arrays.length + values.objects.length > 0)
    throw sets.reader.refusal('unsupported_value', node.path, 'negates a list of arrays or objects');
  return complementOfTypes(sets, values);
}

/** Each schema of a negated `oneOf` is combined with every other. */
const MAX_EXCLUSIVE = 16;

const negated = (all: All): All[] =>
  all.length === 0 ? [[NOTHING]] : all.includes(NOTHING) ? [[]] : all.map((each) => [each ^ 1]);

function negatedArrays(sets: ValueSets, node: SchemaNode): ArrayShape[] {
  const { schema } = node;
  const shapes: ArrayShape[] = [];
  const min = Number(schema.minItems ?? 0);
  if (min > 0) shapes.push({ ...ANY_ARRAY, max: min - 1 });
  if (schema.maxItems !== undefined) shapes.push({ ...ANY_ARRAY, min: Number(schema.maxItems) + 1 });
  insideList(sets, node, 'prefixItems').forEach((each, i) => {
    for (const other of negated(each))
      shapes.push({ ...ANY_ARRAY, prefix: [...Array.from({ length: i }, (): All => []), other], min: i + 1 });
  });
  const max = Number.POSITIVE_INFINITY;
  if (schema.items !== undefined && schema.prefixItems === undefined)
    for (const value of negated(inside(sets, node, schema.items, 'items')))
      shapes.push({ ...ANY_ARRAY, contains: [{ value, min: 1, max }] });
  if (schema.contains !== undefined) {
    const [items = [], ...more] = negated(inside(sets, node, schema.contains, 'contains'));
    if (more.length === 0) shapes.push({ ...ANY_ARRAY, items });
  }
  return shapes;
}

function negatedObjects(sets: ValueSets, node: SchemaNode): ObjectShape[] {
  const { schema } = node;
  const any = anyObject(sets.make);
  const shapes: ObjectShape[] = [];
  const min = Number(schema.minProperties ?? 0);
  if (min > 0) shapes.push({ ...any, max: min - 1 });
  if (schema.maxProperties !== undefined) shapes.push({ ...any, min: Number(schema.maxProperties) + 1 });
  for (const [name, each] of Object.entries((schema.properties ?? {}) as Schema))
    for (const value of negated(inside(sets, node, each, `properties/${name}`)))
      if (!value.includes(NOTHING))
        shapes.push({ ...any, properties: new Map([[name, value]]), required: new Set([name]) });
  const need = (names: Expression, values: readonly All[]) => {
    for (const value of values) if (!value.includes(NOTHING)) shapes.push({ ...any, needed: [{ names, value }] });
  };
  const { make } = sets;
  const patterns = Object.entries((schema.patternProperties ?? {}) as Schema).map(([pattern, each]) => {
    const names = namePattern(sets, pattern, `${node.path}/patternProperties`);
    need(names, negated(inside(sets, node, each, `patternProperties/${pattern}`)));
    return names;
  });
  if (schema.additionalProperties !== undefined) {
    const own = textExpression(make, Object.keys((schema.properties ?? {}) as Schema));
    const extra = inside(sets, node, schema.additionalProperties, 'additionalProperties');
    need(make.not(make.or(own, ...patterns)), negated(extra));
  }
  if (schema.propertyNames !== undefined)
    need(sets.notOf(inside(sets, node, schema.propertyNames, 'propertyNames')).string, [[]]);
  for (const name of (schema.required ?? []) as string[])
    shapes.push({ ...any, properties: new Map([[name, [NOTHING]]]) });
  return shapes;
}
