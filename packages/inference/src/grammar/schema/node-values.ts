// The values of a node: each keyword is a constraint, and all hold at once.

import type { Work } from '../text/work.ts';
import { dependenciesOf } from './dependencies.ts';
import { negatedValues } from './negated-values.ts';
import { constantValues, numberTerms, stringTerm, typeValues } from './scalar-values.ts';
import type { SchemaNode, SchemaReader } from './schema-reader.ts';
import { arrayShape, objectShape } from './shapes.ts';
import { withUnevaluated } from './unevaluated.ts';
import { inside, insideList, ValueSets } from './value-sets.ts';
import { type All, NOTHING, unionOf, type Values } from './values.ts';

/** Each schema of a `oneOf` is compared with every other. */
const MAX_EXCLUSIVE = 256;

/** `work`: none has a bound of its own. */
export function valueSets(reader: SchemaReader, work?: Work): ValueSets {
  const nodeValues = (sets: ValueSets, node: SchemaNode, isNegated: boolean) =>
    isNegated ? negatedValues(sets, node) : withUnevaluated(sets, constraints(sets, node).reduce(sets.both), node);
  return new ValueSets(reader, { nodeValues, work });
}

function constraints(sets: ValueSets, node: SchemaNode): Values[] {
  const { schema } = node;
  const list = (keyword: string) => insideList(sets, node, keyword);
  const all = [typeValues(sets, node), ownValues(sets, node)];
  if (schema.enum !== undefined) all.push(constantValues(sets, schema.enum as unknown[], node));
  if (schema.const !== undefined) all.push(constantValues(sets, [schema.const], node));
  if (typeof schema.$ref === 'string') all.push(sets.of(sets.reader.target(schema.$ref, node)));
  for (const each of list('allOf')) all.push(sets.of(each));
  if (schema.anyOf !== undefined)
    all.push(
      unionOf(
        sets.make,
        list('anyOf').map((each) => sets.of(each)),
      ),
    );
  if (schema.oneOf !== undefined) all.push(exactlyOne(sets, node));
  if (schema.not !== undefined) all.push(sets.notOf(inside(sets, node, schema.not, 'not')));
  if (schema.if !== undefined && (schema.then ?? schema.else) !== undefined) all.push(conditional(sets, node));
  for (const { absent, present, needed } of dependenciesOf(sets, node))
    all.push(unionOf(sets.make, [sets.of(absent), sets.both(sets.of(present), sets.of(needed))]));
  return all;
}

/** The keywords of numbers, strings, arrays and objects. */
function ownValues(sets: ValueSets, node: SchemaNode): Values {
  const { any, make } = sets;
  const [number, string] = [numberTerms(sets, node), stringTerm(sets, node)];
  const [array, object] = [arrayShape(sets, node), objectShape(sets, node)];
  if (number.length === 0 && string === make.all && array === undefined && object === undefined) return any;
  return {
    ...any,
    number: make.and(any.number, ...number),
    string: string,
    arrays: array === undefined ? any.arrays : [array],
    objects: object === undefined ? any.objects : [object],
  };
}

function conditional(sets: ValueSets, node: SchemaNode): Values {
  const { schema } = node;
  const condition = inside(sets, node, schema.if, 'if');
  const then = sets.of(inside(sets, node, schema.then ?? true, 'then'));
  const otherwise = sets.of(inside(sets, node, schema.else ?? true, 'else'));
  return unionOf(sets.make, [sets.both(sets.of(condition), then), sets.both(sets.notOf(condition), otherwise)]);
}

/** Each alternative's values that no other allows. */
function exactlyOne(sets: ValueSets, node: SchemaNode): Values {
  const list: readonly All[] = insideList(sets, node, 'oneOf');
  if (list.length > MAX_EXCLUSIVE)
    throw sets.reader.refusal('unsupported_value', node.path, `has a \`oneOf\` of more than ${MAX_EXCLUSIVE} schemas`);
  if (isDiscriminated(sets, list))
    return unionOf(
      sets.make,
      list.map((each) => sets.of(each)),
    );
  const exclusive = list.map((one, i) => {
    let values = sets.of(one);
    list.forEach((other, j) => {
      if (i !== j && !sets.hasNone(sets.both(values, sets.of(other)))) values = sets.both(values, sets.notOf(other));
    });
    return values;
  });
  return unionOf(sets.make, exclusive);
}

/** Whether a required property has another constant in each schema, so that they exclude each other and need no comparison. */
function isDiscriminated(sets: ValueSets, list: readonly All[]): boolean {
  const tags = list.map((each) => tagsOf(sets, each));
  return [...(tags[0]?.keys() ?? [])].some((name) => {
    const values = new Set(tags.map((each) => each.get(name)));
    return values.size === tags.length && !values.has(undefined);
  });
}

/** References that are followed to a schema's properties. */
const MAX_HOPS = 8;

/** The required properties of an object that allow one string, with that string. */
function tagsOf(sets: ValueSets, all: All, hops = 0): ReadonlyMap<string, string> {
  const [number = NOTHING] = all;
  // Odd: negated.
  if (all.length !== 1 || number === NOTHING || number % 2 === 1 || hops > MAX_HOPS) return new Map();
  const node = sets.reader.at(number);
  const { $ref, type, required, properties } = node.schema;
  if (typeof $ref === 'string') return tagsOf(sets, sets.reader.target($ref, node), hops + 1);
  if (type !== 'object' || !Array.isArray(required)) return new Map();
  const own = new Map(Object.entries((properties ?? {}) as Record<string, unknown>));
  return new Map(
    required.flatMap((name: string) => {
      const property = own.get(name);
      const constant = typeof property === 'object' && property !== null && 'const' in property && property.const;
      return typeof constant === 'string' ? [[name, constant] as const] : [];
    }),
  );
}
