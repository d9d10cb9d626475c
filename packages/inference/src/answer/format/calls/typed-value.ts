// The JSON text of a value that a model wrote as plain text, by the schema of its parameter.

import { resolvePointer } from '../../../grammar/schema/schema-keywords.ts';
import { Cursor } from '../cursor.ts';
import { HeldText } from '../held-text.ts';
import type { Schema } from './call-writer.ts';
import { parsed } from './json-call.ts';
import { numberJson, readLiteral } from './literal.ts';

type TypeName = 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'object' | 'array' | 'unknown';
/** Undefined: any. */
type Types = ReadonlySet<TypeName> | undefined;

const MAX_DEPTH = 16;

/** The types that a schema allows; undefined: any. Each part of it is read once, however often it is referred to. */
export function typesOf(schema: unknown, root: Schema | undefined): Types {
  const known = new Map<Schema, Types>();
  const typesAt = (part: unknown, depth: number): Types => {
    if (!isSchema(part) || depth > MAX_DEPTH) return undefined;
    if (known.has(part)) return known.get(part);
    // Within itself it may be anything.
    known.set(part, undefined);
    const types = typesIn(part, root, (each) => typesAt(each, depth + 1));
    known.set(part, types);
    return types;
  };
  return typesAt(schema, 0);
}

function typesIn(schema: Schema, root: Schema | undefined, typesAt: (schema: unknown) => Types): Types {
  if (typeof schema.$ref === 'string')
    return typesAt(schema.$ref === '#' ? root : resolvePointer(root, schema.$ref.slice(2)));
  const { type } = schema;
  if (typeof type === 'string') return new Set([normal(type)]);
  if (Array.isArray(type)) return new Set(type.map((each) => normal(String(each))));
  const values = Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const] : undefined;
  if (values) return new Set(values.map(typeOf));
  const union = (schemas: unknown): Types => {
    const all = Array.isArray(schemas) ? schemas.map(typesAt) : [];
    return all.every((types) => types !== undefined) && all.length > 0
      ? new Set(all.flatMap((types) => [...types]))
      : undefined;
  };
  const every = Array.isArray(schema.allOf) ? schema.allOf.map(typesAt) : [];
  const both = [union(schema.anyOf), union(schema.oneOf), ...every].filter((types) => types !== undefined);
  if (both.length > 0) return both.reduce(common);
  if ('properties' in schema) return new Set(['object']);
  return 'items' in schema ? new Set(['array']) : undefined;
}

/** What both allow: an integer is a number, too. */
function common(one: ReadonlySet<TypeName>, other: ReadonlySet<TypeName>): ReadonlySet<TypeName> {
  const isIn = (types: ReadonlySet<TypeName>) => (name: TypeName) =>
    types.has(name) || (name === 'integer' && types.has('number'));
  return new Set([...[...one].filter(isIn(other)), ...[...other].filter(isIn(one))]);
}

/** The schema of a parameter; undefined if it is not declared. */
export function parameterSchema(root: Schema | undefined, name: string): Schema | undefined {
  const { properties } = root ?? {};
  const found = isSchema(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  return isSchema(found) ? found : undefined;
}

/** The first reading of the text that a type allows; text that no type allows stays a string. */
export function typedJson(text: string, types: Types): string {
  const value = text.trim();
  const allows = (name: TypeName) => types === undefined || types.has(name);
  if (allows('null') && value === 'null') return 'null';
  if (allows('boolean') && /^(?:true|false)$/i.test(value)) return value.toLowerCase();
  if (allows('number') || allows('integer')) {
    const number = numberJson(value);
    if (number !== undefined && (allows('number') || !/\.\d*[1-9]/.test(number))) return number;
  }
  if ((allows('object') && value.startsWith('{')) || (allows('array') && value.startsWith('['))) {
    const json = parsed(value);
    if (json !== undefined) return value;
    const literal = pythonJson(value);
    if (literal !== undefined) return literal;
  }
  if (types === undefined && value.startsWith('"') && typeof parsed(value) === 'string') return value;
  return JSON.stringify(text);
}

function pythonJson(text: string): string | undefined {
  const held = new HeldText();
  held.push(text, { isControl: false, keptFrom: 0 });
  held.end();
  const cursor = new Cursor(held);
  const step = readLiteral(cursor, { quotes: ['"', "'"] }).next();
  return step.done && cursor.rest === '' ? step.value : undefined;
}

/** With the names that libraries of Python give the types. */
const NAMES: Readonly<Record<string, TypeName>> = {
  ...{ string: 'string', number: 'number', integer: 'integer', boolean: 'boolean', null: 'null' },
  ...{ object: 'object', array: 'array' },
  ...{ str: 'string', text: 'string', int: 'integer', float: 'number', double: 'number', bool: 'boolean' },
  ...{ dict: 'object', list: 'array', tuple: 'array' },
};
const normal = (name: string): TypeName => (Object.hasOwn(NAMES, name) && NAMES[name]) || 'unknown';

function typeOf(value: unknown): TypeName {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return normal(typeof value);
}

export function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
