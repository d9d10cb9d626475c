// The values that `type`, `const`, `enum` and the keywords of numbers and strings allow.
import type { Expression } from '../text/expression.ts';
import { ofLength } from '../text/length.ts';
import { textExpression } from '../text/number-expression.ts';
import { PatternError } from '../text/pattern-escape.ts';
import { patternExpression } from '../text/pattern-expression.ts';
import type { Schema } from './schema-keywords.ts';
import type { SchemaNode } from './schema-reader.ts';
import type { ValueSets } from './value-sets.ts';
import { ANY_ARRAY, anyObject, NOTHING, type Values } from './values.ts';

const TYPES = ['null', 'boolean', 'number', 'integer', 'string', 'array', 'object'];

export function typeValues({ any, none, numbers, reader }: ValueSets, { schema, path }: SchemaNode): Values {
  if (schema.type === undefined) return any;
  const types = (Array.isArray(schema.type) ? schema.type : [schema.type]) as readonly string[];
  const unknown = types.find((type) => !TYPES.includes(type));
  if (unknown !== undefined)
    throw reader.refusal('invalid_value', path, `has the unknown type ${JSON.stringify(unknown.slice(0, 100))}`);
  const has = (type: string) => types.includes(type);
  return {
    ...{ null: has('null'), true: has('boolean'), false: has('boolean') },
    number: has('number') ? any.number : has('integer') ? numbers.integer : none.number,
    string: has('string') ? any.string : none.string,
    arrays: has('array') ? any.arrays : [],
    objects: has('object') ? any.objects : [],
  };
}

/** The terms of the keywords of numbers. */
export function numberTerms({ numbers, reader }: ValueSets, { schema, path }: SchemaNode): Expression[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, format } = schema;
  const terms: Expression[] = [];
  // In draft 4 an exclusive bound is a flag of the bound.
  if (typeof minimum === 'number') terms.push(numbers.from(minimum, exclusiveMinimum === true));
  if (typeof maximum === 'number') terms.push(numbers.to(maximum, exclusiveMaximum === true));
  if (typeof exclusiveMinimum === 'number') terms.push(numbers.from(exclusiveMinimum, true));
  if (typeof exclusiveMaximum === 'number') terms.push(numbers.to(exclusiveMaximum, true));
  // OpenAPI's formats of numbers.
  if (format === 'int32') terms.push(numbers.integer, numbers.from(-(2 ** 31), false), numbers.to(2 ** 31 - 1, false));
  if (format === 'int64') terms.push(numbers.integer);
  if (typeof multipleOf === 'number') {
    const multiples = numbers.multiplesOf(multipleOf);
    if (!multiples) throw reader.refusal('unsupported_value', path, 'has a `multipleOf` with too many remainders');
    terms.push(multiples);
  }
  return terms;
}

/** RFC 5321 section 4.5.3.1.3, without angle brackets. */
const MAX_EMAIL = 254;

/** The term of the keywords of strings. */
export function stringTerm(sets: ValueSets, { schema, path }: SchemaNode): Expression {
  const { make, reader } = sets;
  const { minLength, maxLength, pattern, format } = schema;
  if (Number(maxLength) < Number(minLength)) throw reader.refusal('invalid_value', path, 'has an empty range');
  const ofPattern = typeof pattern === 'string' ? namePattern(sets, pattern, path) : make.all;
  const [min, max] = [Number(minLength ?? 0), Number(maxLength ?? Number.POSITIVE_INFINITY)];
  // An address of which each length is a state has more than a thousand.
  const isShort = format === 'email' && maxLength !== undefined && max >= MAX_EMAIL && min <= 5;
  const used = isShort ? 'short-email' : format;
  const ofFormat = typeof used === 'string' ? (sets.format(used) ?? make.all) : make.all;
  const term = make.and(ofPattern, ofFormat);
  if (minLength === undefined && maxLength === undefined) return term;
  return ofLength(make, term, [min, format === 'email' ? Math.min(max, MAX_EMAIL) : max]);
}

/** The texts of a pattern. */
export function namePattern({ make, reader }: ValueSets, pattern: string, path: string): Expression {
  try {
    return patternExpression(make, pattern);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw reader.refusal('unsupported_value', path, `has a \`pattern\` that ${error.message}`);
  }
}

/** Exactly the given values. */
export function constantValues(sets: ValueSets, list: readonly unknown[], { path, depth }: SchemaNode): Values {
  const { make, numbers, reader } = sets;
  const member = (value: unknown) => reader.constant(value, path, depth + 1);
  return {
    ...{ null: list.includes(null), true: list.includes(true), false: list.includes(false) },
    number: make.or(...list.filter((each) => typeof each === 'number').map((each) => numbers.value(each))),
    string: textExpression(
      make,
      list.filter((each) => typeof each === 'string'),
    ),
    arrays: list
      .filter((each): each is unknown[] => Array.isArray(each))
      .map((each) => ({
        ...ANY_ARRAY,
        prefix: each.map(member),
        items: [NOTHING],
        min: each.length,
        max: each.length,
      })),
    objects: list
      .filter((each): each is Schema => typeof each === 'object' && each !== null && !Array.isArray(each))
      .flatMap((each) =>
        ordersOf(Object.keys(each), list.length).map((names) => ({
          ...anyObject(make),
          properties: new Map(names.map((name) => [name, member(each[name])])),
          required: new Set(names),
          additional: [],
        })),
      ),
  };
}

/** A constant object is equal in every order of its keys: all orders of few keys in a short list, else the given one. */
function ordersOf(names: readonly string[], values: number): (readonly string[])[] {
  if (names.length > 3 || names.length < 2 || values > 10) return [names];
  return names.flatMap((first) =>
    ordersOf(
      names.filter((name) => name !== first),
      values,
    ).map((rest) => [first, ...rest]),
  );
}
